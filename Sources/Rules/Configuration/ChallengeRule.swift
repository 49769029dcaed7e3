import Bytes
import Model

extension Configuration {
    /// A rule `challenge ["name"] { … }`: predicates, one answer, modifiers. An empty list or nil means that the file
    /// does not set it.
    public struct ChallengeRule: Sendable, Equatable {
        public enum Action: Sendable, Equatable {
            /// Use a credential; the names of existing credentials, at least one. If the first is refused, the next is
            /// used.
            case use([String])
            case performDefault
            case reject
            case cancel
            /// Hold the request until an operator decides, unless a credential is stored for the space.
            case ask
            /// Trust the server's chain on these terms.
            case trust(TrustTerms)

            /// The answer in the words of the rule file.
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

            /// Returns `use a`, or `use a, then b where a was refused`.
            ///
            /// - Parameter manner: how the first credential is used.
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

        /// The treatment of a credential that a client brings itself.
        public enum Authorization: String, Sendable, CaseIterable {
            case keep
            case replace
            /// The request gets a 403.
            case refuse
        }

        /// Whether a credential is sent preemptively, without waiting for a challenge.
        public enum Preemption: String, Sendable, CaseIterable {
            case no
            /// Preemptive after the first success.
            case yes
            /// Preemptive with every request.
            case always
        }

        /// The request by which the proxy asks a server whether it still accepts a credential.
        public enum Probe: Sendable, Equatable {
            /// A request that was accepted before.
            case sample
            /// A GET of this path.
            case path(String)
            case no

            /// The value of `probe`; nil for the default.
            var words: String? {
                switch self {
                case .sample: nil
                case .path(let path): path
                case .no: "no"
                }
            }
        }

        var predicates = Predicates()
        public var action = Action.performDefault
        /// The limit of answers with one credential in a request, including the refusals that `failures` requires.
        public var attempts = 1
        /// The times after which a credential that was accepted before and is refused now is tried again by one
        /// request. The first value is for the first refusal, the next for the next; the last one repeats. Empty for
        /// never.
        public var retry = usualRetry
        public var probe = Probe.sample
        public var persistence = Persistence.session
        public var preemption = Preemption.yes
        /// The order of the methods; empty for strongest first.
        public var order: [AuthenticationMethod] = []
        public var authorization: Authorization?
        /// The terms of the answer; nil if there are only defaults.
        public var answerTerms: AnswerTerms?
        /// Whether a client's own answer is stored when the server accepts it (`learn`).
        public var learns = false
        /// The mode of the rule; nil for the file's mode.
        public var mode: Configuration.Mode?
        public let rule: RuleReference
        /// The methods that each credential of `use` can answer, in the order of their names.
        var abilities = [MethodSet.password]
        /// The places of the credential in requests, if set; it is then sent with every request.
        var placements: [CredentialPlacement] = []
        /// The scheme by which the credential signs requests; nil if it signs none.
        var signature: SignatureSource.Scheme?
        /// The methods that at least one of the credentials can answer.
        var answerable: MethodSet { abilities.reduce(into: []) { $0.formUnion($1) } }

        /// The methods that the rule covers: those that it names and can answer. If it names none, the methods of a
        /// response, or those implied by the answer and the other predicates.
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

        /// The methods for which the rule uses a credential that can answer `ability`.
        func meant(for ability: MethodSet) -> MethodSet {
            let effective = effectiveMethods
            return meant(ability, among: effective).intersection(effective)
        }

        private func meant(_ ability: MethodSet, among said: MethodSet) -> MethodSet {
            let isOpen = predicates.method.written == nil && answerTerms?.form == nil
            return isOpen ? ability.unnamed : said.intersection(ability)
        }

        /// The answer to a challenge of this method; of several credentials, those that fit the method.
        func action(for method: AuthenticationMethod) -> Action {
            guard case .use(let names) = action, names.count > 1 else { return action }
            return .use(zip(names, abilities).filter { meant(for: $0.1).contains(method) }.map(\.0))
        }
    }

    /// The terms of a `challenge` for using its credential, if they differ from the defaults. Immutable and shared.
    public final class AnswerTerms: Sendable, Equatable {
        /// The Kerberos service to get a ticket for (`spn`); nil for `HTTP@` and the host.
        public let servicePrincipal: String?
        /// Whether the server may act elsewhere with the credential's identity (`delegate`).
        public let delegates: Bool
        /// Whether the host is looked up in the DNS for its service's name (`canonicalise`).
        public let canonicalises: Bool
        public let form: LoginForm?

        public init(
            servicePrincipal: String? = nil, delegates: Bool = false, canonicalises: Bool = false,
            form: LoginForm? = nil
        ) {
            self.servicePrincipal = servicePrincipal
            self.delegates = delegates
            self.canonicalises = canonicalises
            self.form = form
        }

        public static func == (left: Configuration.AnswerTerms, right: Configuration.AnswerTerms) -> Bool {
            left === right
                || left.servicePrincipal == right.servicePrincipal && left.delegates == right.delegates
                    && left.canonicalises == right.canonicalises && left.form == right.form
        }
    }

    /// The terms on which a `challenge` trusts a server's chain. Immutable and shared; connections treat two rules with
    /// equal terms as one.
    ///
    /// The chain is evaluated with `anchors` and for `name`. It is trusted if every problem is in `allow` and, if there
    /// are `pins`, one of them is the server's key.
    public final class TrustTerms: Sendable, Hashable {
        /// The problems that are allowed; `weak` is replaced by its two meanings.
        public let allow: TrustFindings
        /// The keys of which the server's must be one; empty for any key.
        public let pins: [KeyPin]
        /// The files with root certificates, in PEM.
        public let anchors: [String]
        /// Whether only these roots are trusted, without the system's.
        public let hasOnlyItsAnchors: Bool
        /// The name or address, in lower case, that the certificate must have; nil for that of the request.
        public let name: String?
        /// The last day on which the rule applies; nil if it always applies.
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

        public static func == (left: Configuration.TrustTerms, right: Configuration.TrustTerms) -> Bool {
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

        /// The modifiers, as the rule file would write them.
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
}

extension Configuration.ChallengeRule {
    /// The rule with its effective mode: a rule that only reports does nothing preemptively.
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

    /// The terms on which a server is trusted; nil if the answer is another.
    var trustTerms: Configuration.TrustTerms? {
        if case .trust(let terms) = action { terms } else { nil }
    }

    /// Whether the credential goes where clients write its placeholder.
    var hasPlaceholder: Bool { placements.contains(where: \.isPlaceholder) }

    /// Whether the rule names a credential.
    var isUse: Bool { !names.isEmpty }

    /// The names of the rule's credentials.
    var names: [String] {
        if case .use(let names) = action { names } else { [] }
    }

    /// The default of `attempts`: one answer for each credential, three for an operator, and as many as the rule gives
    /// after the refusals that its `failures` requires.
    var usualAttempts: Int { max(action == .ask ? 3 : 1, failuresBefore + 1) }

    /// The number of refusals before the rule applies, by its `failures`. The limit is far above what a request can
    /// have.
    var failuresBefore: Int { min(predicates.failures.range?.lowerBound ?? 0, 1000) }

    /// The default of `retry`.
    static let usualRetry: [Milliseconds] = [.seconds(30), .minutes(5), .minutes(30)]

    /// Whether the rule is limited to certain hosts.
    public var namesHosts: Bool { predicates.host.isSaid }

    /// Whether the rule's credential goes with every request and answers no challenge.
    var waitsForNone: Bool { effectiveMethods == MethodSet(.default) && !waitsForRequest }

    /// Whether the rule's credential signs a request only after the server has asked for it (`Accept-Signature`).
    var waitsForRequest: Bool { signature == .message && preemption != .always }

    /// Whether the rule answers or ends a challenge of a response.
    var actsOnChallenge: Bool {
        switch action {
        case .use, .cancel, .ask: !effectiveMethods.isDisjoint(with: .http)
        case .performDefault, .reject, .trust: false
        }
    }

    /// The values of `retry`.
    static func retryWords(_ retry: [Milliseconds]) -> String {
        let units = [(3_600_000, "h"), (60_000, "m"), (1000, "s")]
        let words = retry.map { time in
            let time = time.count
            let unit = units.first { time % $0.0 == 0 } ?? (1, "ms")
            return "\(time / unit.0)\(unit.1)"
        }
        return words.isEmpty ? "never" : words.joined(separator: " ")
    }
}
