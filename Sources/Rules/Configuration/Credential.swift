extension Configuration {
    /// `credential NAME { … }`.
    public struct Credential: Sendable, Equatable {
        /// What it is; the rule file says exactly one.
        public enum Content: Sendable, Equatable {
            case password(user: ValueSource, password: ValueSource)
            case identity(IdentitySource)

            /// The methods that such a credential can answer.
            var methods: MethodSet {
                switch self {
                case .password: .password
                case .identity: MethodSet(.clientCertificate)
                }
            }

            /// What it is in a sentence.
            var words: String {
                switch self {
                case .password: "a user and a password"
                case .identity: "a certificate and its key"
                }
            }
        }

        public let name: String
        public let content: Content
        public let rule: RuleReference
    }
}
