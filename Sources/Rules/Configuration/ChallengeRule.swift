import Model

extension Configuration {
    /// `challenge ["name"] { … }`: predicates, one answer, modifiers. An empty list and nil mean: said nothing.
    public struct ChallengeRule: Sendable, Equatable {
        public enum Action: Sendable, Equatable {
            /// The names of credentials that exist: the first, and where it was refused the next. At least one.
            case use([String])
            case performDefault
            case reject
            case cancel
            /// Hold the request until an operator decides, unless a credential is kept for the space.
            case ask
            /// Trust the server's chain on these terms.
            case trust(TrustTerms)
        }

        /// Whether a client's own `Authorization` is kept.
        public enum Authorization: String, Sendable, CaseIterable {
            case keep
            case replace
        }

        /// Whether a credential is sent before it is asked for.
        public enum Preemption: String, Sendable, CaseIterable {
            case no
            /// Once it was accepted.
            case yes
            /// With every request.
            case always
        }

        /// The request by which the proxy asks a server whether it still accepts a credential.
        public enum Probe: Sendable, Equatable {
            /// One that was accepted before.
            case sample
            /// GET of that path.
            case path(String)
            case no
        }

        var predicates = Predicates()
        public var action = Action.performDefault
        /// Answers of one credential in a request, with the refusals before them that `failures` asks for.
        public var attempts = 1
        /// Milliseconds after which a credential that was accepted before and is refused now is tried again by one
        /// request, after each refusal the next, the last one over and over; empty: never.
        public var retry = usualRetry
        public var probe = Probe.sample
        public var persistence = Persistence.session
        public var preemption = Preemption.yes
        /// Strongest first unless said otherwise.
        public var order: [AuthenticationMethod] = []
        public var authorization: Authorization?
        /// Nil: nothing is out of the ordinary.
        public var answerTerms: AnswerTerms?
        /// `learn`: whether a client's own answer is kept when the server accepts it.
        public var learns = false
        /// Nil: as all.
        public var mode: Configuration.Mode?
        public let rule: RuleReference
        /// The methods that each credential of `use` can answer, in the order of their names.
        var abilities = [MethodSet.password]
        /// Where the credential stands in requests, if that is said: then it is sent with every one.
        var placements: [CredentialPlacement] = []
        /// Those that one of them can answer.
        var answerable: MethodSet { abilities.reduce(into: []) { $0.formUnion($1) } }

        /// The methods the rule speaks of: those it says and can answer. When it says none, those of a response, or
        /// what the answer and the other predicates imply.
        var effectiveMethods: MethodSet {
            let written = predicates.method.written
            let limits = predicates.said.filter(\.isOfTLS)
            var effective = written ?? (limits.isEmpty ? .http : .all)
            if written == nil, answerTerms?.form != nil { effective = MethodSet(.htmlForm) }
            switch action {
            case .use: effective = abilities.reduce(into: []) { $0.formUnion(meant($1, among: effective)) }
            case .trust: effective = MethodSet(.serverTrust)
            case .performDefault, .reject, .cancel, .ask: break
            }
            return limits.reduce(effective) { $0.intersection($1.methods) }
        }

        /// The predicates, with the methods that the rule is for.
        var resolved: Predicates {
            var resolved = predicates
            resolved.method.effective = effectiveMethods
            resolved.method.answerable = answerable
            resolved.method.credentials = names.count
            return resolved
        }

        /// The methods for which the rule means a credential that can answer `ability`.
        func meant(for ability: MethodSet) -> MethodSet {
            let effective = effectiveMethods
            return meant(ability, among: effective).intersection(effective)
        }

        private func meant(_ ability: MethodSet, among said: MethodSet) -> MethodSet {
            let isOpen = predicates.method.written == nil && answerTerms?.form == nil
            return isOpen ? ability.unnamed : said.intersection(ability)
        }

        /// The answer to a challenge of that method: of several credentials, those that are meant for it.
        func action(for method: AuthenticationMethod) -> Action {
            guard case .use(let names) = action, names.count > 1 else { return action }
            return .use(zip(names, abilities).filter { meant(for: $0.1).contains(method) }.map(\.0))
        }
    }
}

extension Configuration.ChallengeRule {
    /// The rule in its mode: one that only reports does nothing before it is asked.
    func effective(in mode: Configuration.Mode) -> Self {
        var rule = self
        rule.mode = self.mode ?? mode
        guard rule.mode == .report else { return rule }
        rule.preemption = .no
        rule.placements = []
        rule.learns = false
        rule.authorization = nil
        return rule
    }

    /// On what terms a server is trusted; nil when the answer is another.
    var trustTerms: TrustTerms? {
        if case .trust(let terms) = action { terms } else { nil }
    }

    /// Whether it names a credential.
    var isUse: Bool { !names.isEmpty }

    /// The credentials that it names.
    var names: [String] {
        if case .use(let names) = action { names } else { [] }
    }

    /// `attempts` where the rule does not say it: one answer of each credential, three of an operator, and so many that the
    /// rule answers after the refusals that its `failures` asks for.
    var usualAttempts: Int { max(action == .ask ? 3 : 1, failuresBefore + 1) }

    /// The refusals that must come before the rule applies, by its `failures`; far above what a request can have, at most.
    var failuresBefore: Int { min(predicates.failures.range?.lowerBound ?? 0, 1000) }

    /// `retry` where it is not said.
    static let usualRetry = [30_000, 300_000, 1_800_000]

    /// The answer in the rule file's words.
    var actionWords: String { action.words }

    /// Whether it says which hosts it is for.
    public var namesHosts: Bool { predicates.host.isSaid }

    /// Whether its credential goes with every request, and answers no challenge.
    var waitsForNone: Bool { effectiveMethods == MethodSet(.default) }

    /// Whether it answers a challenge of a response, or makes an end of it.
    var actsOnChallenge: Bool {
        switch action {
        case .use, .cancel, .ask: !effectiveMethods.isDisjoint(with: .http)
        case .performDefault, .reject, .trust: false
        }
    }
}

extension Configuration.ChallengeRule.Action {
    /// In the rule file's words.
    public var words: String {
        switch self {
        case .use(let names): "use \(names.joined(separator: " "))"
        case .performDefault: "default"
        case .reject: "reject"
        case .cancel: "cancel"
        case .ask: "ask"
        case .trust: "trust"
        }
    }

    /// `use a`, or `use a, then b where a was refused`.
    ///
    /// - Parameter manner: how the first is used.
    static func useWords(_ names: [String], _ manner: String = "") -> String {
        guard let first = names.first, let last = names.last else { return "use" }
        switch names.count {
        case 1: return "use \(first)\(manner)"
        case 2: return "use \(first)\(manner), then \(last) if \(first) was refused"
        default:
            let others = names.dropFirst().joined(separator: ", then ")
            return "use \(first)\(manner), then \(others), each if those before it were refused"
        }
    }
}

/// How a `challenge` uses its credential, where that is out of the ordinary. Immutable and shared.
public final class AnswerTerms: Sendable, Equatable {
    /// `spn`: the Kerberos service to get a ticket for; nil: `HTTP@` and the host.
    public let servicePrincipal: String?
    /// `delegate`: whether the server may act in the credential's name elsewhere.
    public let delegates: Bool
    /// `canonicalise`: whether the host is looked up in the DNS for its service's name.
    public let canonicalises: Bool
    public let form: LoginForm?

    public init(
        servicePrincipal: String? = nil, delegates: Bool = false, canonicalises: Bool = false, form: LoginForm? = nil
    ) {
        self.servicePrincipal = servicePrincipal
        self.delegates = delegates
        self.canonicalises = canonicalises
        self.form = form
    }

    public static func == (left: AnswerTerms, right: AnswerTerms) -> Bool {
        left === right
            || left.servicePrincipal == right.servicePrincipal && left.delegates == right.delegates
                && left.canonicalises == right.canonicalises && left.form == right.form
    }
}

/// On what terms a `challenge` trusts a server's chain. Immutable and shared; two rules with equal terms are the same to
/// whoever keeps connections.
///
/// The chain is evaluated with `anchors` and for `name`. It is trusted when every finding is in `allow` and, if there
/// are `pins`, one of them is the server's key.
public final class TrustTerms: Sendable, Hashable {
    /// The findings that are forgiven; `weak` has become the two it stands for.
    public let allow: TrustFindings
    /// Any one of them must be the server's key; empty: any key.
    public let pins: [KeyPin]
    /// Files with certificates, PEM, that are trusted as roots.
    public let anchors: [String]
    /// Whether the anchors stand in the place of the system's, and not beside them.
    public let hasOnlyItsAnchors: Bool
    /// The name or address, in lower case, to be found in the certificate; nil: that of the request.
    public let name: String?
    /// The last day on which the rule applies; nil: it always does.
    public let until: Day?

    public init(
        allow: TrustFindings = [], pins: [KeyPin] = [], anchors: [String] = [], hasOnlyItsAnchors: Bool = false,
        name: String? = nil, until: Day? = nil
    ) {
        self.allow = allow
        self.pins = pins
        self.anchors = anchors
        self.hasOnlyItsAnchors = hasOnlyItsAnchors
        self.name = name
        self.until = until
    }

    public static func == (left: TrustTerms, right: TrustTerms) -> Bool {
        left === right
            || left.allow == right.allow && left.pins == right.pins && left.anchors == right.anchors
                && left.hasOnlyItsAnchors == right.hasOnlyItsAnchors && left.name == right.name
                && left.until == right.until
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(allow)
        hasher.combine(pins)
        hasher.combine(anchors)
        hasher.combine(hasOnlyItsAnchors)
        hasher.combine(name)
        hasher.combine(until)
    }

    /// The modifiers, as the rule file would say them.
    var words: [String] {
        var words: [String] = []
        if !allow.isEmpty { words.append("allow \(allow)") }
        words += pins.map { "pin \($0)" }
        if !anchors.isEmpty {
            words.append("anchor \(anchors.joined(separator: " "))\(hasOnlyItsAnchors ? " only" : "")")
        }
        if let name { words.append("name \(name)") }
        if let until { words.append("until \(until)") }
        return words
    }
}

extension Configuration.ChallengeRule {
    /// The values of `retry`.
    static func retryWords(_ retry: [Int]) -> String {
        let units = [(3_600_000, "h"), (60_000, "m"), (1000, "s")]
        let words = retry.map { time in
            let unit = units.first { time % $0.0 == 0 } ?? (1, "ms")
            return "\(time / unit.0)\(unit.1)"
        }
        return words.isEmpty ? "never" : words.joined(separator: " ")
    }
}

extension Configuration.ChallengeRule.Probe {
    /// The value of `probe`; nil where it is not said.
    var words: String? {
        switch self {
        case .sample: nil
        case .path(let path): path
        case .no: "no"
        }
    }
}
