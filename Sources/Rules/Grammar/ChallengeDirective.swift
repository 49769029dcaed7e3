enum ChallengeDirective: String, DirectiveName {
    // Predicates.
    case host
    case port
    case `protocol`
    case realm
    case method
    case proxy
    case secure
    case client
    case issuer
    case finding
    case failures
    // Answers.
    case use
    case `default`
    case reject
    case cancel
    case trust
    case form
    // Modifiers.
    case attempts
    case persistence
    case preempt
    case order
    case authorization
    case spn
    case delegate
    case canonicalise
    case learn
    case allow
    case pin
    case anchor
    case name
    case until

    static let block: String? = "challenge"
    static let planned = ["ask"]

    var grammar: DirectiveGrammar {
        switch self {
        case .host: .some("host patterns", repeats: true)
        case .port: .some("ports", repeats: true)
        case .protocol: .some("'http', 'https', 'ftp' or 'socks'")
        case .realm: .some("realms, '*' for any run of characters", repeats: true)
        case .method: .some("authentication methods")
        case .proxy, .secure, .preempt: .one("'yes' or 'no'")
        case .client: .some("user names, addresses or blocks", repeats: true)
        case .issuer: .some("distinguished names, '*' for any run of characters", repeats: true)
        case .finding: .some("findings about a certificate")
        case .failures: .one("a number, or a range such as 1.. or 0..1")
        case .use: .one("the name of a credential", repeats: true)
        case .default, .reject, .cancel, .trust: .none(repeats: true)
        case .allow: .some("findings about a certificate", repeats: true)
        case .pin: .some("pins such as sha256/BASE64", repeats: true)
        case .anchor: .some("paths, and perhaps 'only'", .path)
        case .name: .one("a host name or an address")
        case .until: .one("a day such as 2027-01-31")
        case .attempts: .one("a number")
        case .persistence: .one("'none', 'session' or 'permanent'")
        case .order: .some("authentication methods")
        case .authorization: .one("'keep' or 'replace'")
        case .form: .block()
        case .spn: .one("a service principal such as HTTP/www.example.com")
        case .delegate, .canonicalise: .one("'yes' or 'no'")
        case .learn: .one("'yes' or 'no'")
        }
    }
}
