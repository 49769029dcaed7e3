extension Configuration {
    /// `challenge ["name"] { … }`: predicates, one answer, modifiers. An empty list and nil mean: said nothing.
    /// Values of one predicate are alternatives; all predicates must hold.
    public struct Challenge: Sendable, Equatable {
        public enum Answer: Sendable, Equatable {
            /// The name of a credential that exists.
            case use(String)
            case performDefault
            case reject
            case cancel
            /// Trust the server's chain on these terms.
            case trust(TrustTerms)
        }

        /// How long an accepted credential is kept.
        public enum Persistence: String, Sendable, CaseIterable {
            case none
            case session
            case permanent
        }

        /// What becomes of a client's own `Authorization`.
        public enum Authorization: String, Sendable, CaseIterable {
            case keep
            case replace
        }

        public var hosts: [HostPattern] = []
        public var ports: PortSet?
        public var protocols: [ChallengeProtocol] = []
        public var realms: [TextPattern] = []
        public var methods: MethodSet?
        public var isProxy: Bool?
        public var isSecure: Bool?
        public var clients: [ClientPattern] = []
        public var issuers: [TextPattern] = []
        public var findings: [TrustFinding] = []
        public var failures: ClosedRange<Int>?

        public var answer = Answer.performDefault
        public var attempts = 1
        public var persistence = Persistence.session
        public var isPreemptive = true
        /// Strongest first unless said otherwise.
        public var order: [ChallengeMethod] = []
        public var authorization: Authorization?
        /// Nil: nothing is out of the ordinary.
        public var answerTerms: AnswerTerms?
        /// `learn`: whether a client's own answer is kept when the server accepts it.
        public var learns = false
        public let rule: RuleReference
        /// What the credential that it uses can answer.
        var answerable = MethodSet.password

        /// The methods the rule speaks of: those it says and can answer. When it says none, those of a response, or
        /// what the answer and the other predicates imply.
        var effectiveMethods: MethodSet {
            var effective = methods ?? (issuers.isEmpty && findings.isEmpty ? .http : .all)
            if methods == nil, answerTerms?.form != nil { effective = MethodSet(.htmlForm) }
            switch answer {
            case .use:
                let isOpen = methods == nil && answerTerms?.form == nil
                effective = isOpen ? answerable.unnamed : effective.intersection(answerable)
            case .trust: effective = MethodSet(.serverTrust)
            case .performDefault, .reject, .cancel: break
            }
            if !issuers.isEmpty { effective.formIntersection(MethodSet(.clientCertificate)) }
            if !findings.isEmpty { effective.formIntersection(MethodSet(.serverTrust)) }
            return effective
        }
    }
}
