extension Configuration {
    /// `credential NAME { … }`.
    public struct Credential: Sendable, Equatable {
        /// What it is; the rule file says exactly one.
        public enum Content: Sendable, Equatable {
            case password(user: ValueSource, password: ValueSource)
            case identity(IdentitySource)
            case kerberos(KerberosSource)
            case token(ValueSource)
            case oauth(OAuthSource)
            case signature(SignatureSource)

            /// The methods that such a credential can answer.
            var methods: MethodSet {
                switch self {
                case .password: .password
                case .identity: MethodSet(.clientCertificate)
                case .kerberos: MethodSet(.negotiate)
                case .token, .oauth: MethodSet(.bearer)
                // It waits for no challenge.
                case .signature: MethodSet(.unknown)
                }
            }

            /// What it is in a sentence.
            var words: String {
                switch self {
                case .password: "a user and a password"
                case .identity: "a certificate and its key"
                case .kerberos: "a Kerberos principal"
                case .token, .oauth: "a token"
                case .signature: "a key that signs"
                }
            }
        }

        public let name: String
        public let content: Content
        public let rule: RuleReference
    }
}
