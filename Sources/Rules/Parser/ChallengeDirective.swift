/// The words of a `challenge`: its conditions, its answer, and the modifiers of the answer.
enum ChallengeDirective: DirectiveName {
    enum Answer: String, CaseIterable {
        case use
        case `default`
        case reject
        case cancel
        case ask
        case trust
    }

    enum Modifier: String, CaseIterable {
        case form
        case attempts
        case retry
        case probe
        case persistence
        case preempt
        case order
        case authorization
        case spn
        case delegate
        case canonicalise
        case learn
        case mode
        case allow
        case pin
        case anchor
        case name

        var grammar: DirectiveGrammar {
            switch self {
            case .preempt: .one("'yes', 'no' or 'always'")
            case .allow: .some("problems of a certificate, such as expired", repeats: true)
            case .pin: .some("pins such as sha256/BASE64", repeats: true)
            case .anchor: .some("paths, and perhaps 'only'", .path)
            case .name: .one("a host name or an address")
            case .attempts: .one("a number")
            case .retry: .some("'never', or durations such as 30s 5m 30m")
            case .probe: .one("'no', or a path such as /status")
            case .persistence: .one("'none', 'session' or 'permanent'")
            case .order: .some("authentication methods")
            case .authorization: .one("'keep', 'replace' or 'refuse'")
            case .form: .block()
            case .spn: .one("a service principal such as HTTP/www.example.com")
            case .delegate, .canonicalise, .learn: .one("'yes' or 'no'")
            case .mode: .one("'enforce' or 'report'")
            }
        }
    }

    case predicate(Predicates.Name)
    case answer(Answer)
    case modifier(Modifier)

    static let block: String? = "challenge"
    static let allCases =
        Predicates.Name.allCases.map(Self.predicate) + Answer.allCases.map(Self.answer)
        + Modifier.allCases.map(Self.modifier)

    init?(rawValue: String) {
        guard let word = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = word
    }

    var rawValue: String {
        switch self {
        case .predicate(let name): name.rawValue
        case .answer(let answer): answer.rawValue
        case .modifier(let modifier): modifier.rawValue
        }
    }

    var grammar: DirectiveGrammar {
        switch self {
        case .predicate(let name): name.type.grammar
        case .answer(.use): .some("the name of a credential", repeats: true)
        case .answer: .none(repeats: true)
        case .modifier(let modifier): modifier.grammar
        }
    }
}
