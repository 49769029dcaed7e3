import Model

extension Configuration {
    /// `credential NAME { … }`.
    public struct Credential: Sendable, Equatable {
        public let name: String
        /// Its kind and the places of its parts; the rule file says exactly one kind.
        public let content: CredentialSource
        public let rule: RuleReference
    }
}

extension CredentialSource {
    /// The methods that such a credential can answer.
    var methods: MethodSet {
        switch self {
        case .password: .password
        case .identity: MethodSet(.clientCertificate)
        case .kerberos: MethodSet(.negotiate)
        case .token, .oauth: MethodSet(.bearer)
        // It waits for no challenge.
        case .signature, .placed: MethodSet(.default)
        }
    }

    /// Where it stands in requests, if that is said.
    var placements: [CredentialPlacement] {
        if case .placed(_, let placements) = self { placements } else { [] }
    }

    /// Its kind in a sentence.
    var words: String {
        switch self {
        case .password: "a user and a password"
        case .identity: "a certificate and its key"
        case .kerberos: "a Kerberos principal"
        case .token, .oauth: "a token"
        case .signature: "a key that signs requests"
        case .placed: "a credential with 'header' or 'query'"
        }
    }
}
