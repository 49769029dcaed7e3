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
        public let rule: RuleReference

        /// The methods the rule can speak of. `use` without `method` means those that a user and a password can
        /// answer: a certificate's trust is no question for a password.
        var effectiveMethods: MethodSet {
            if let methods { return methods }
            if case .use = answer { return .password }
            return .all
        }
    }
}
