import Model

extension Configuration {
    /// A `credential NAME { … }`.
    public struct Credential: Sendable, Equatable {
        public let name: String
        /// The credential's kind and the sources of its parts; the rule file sets exactly one kind.
        public let content: CredentialSource
        /// The settings of the programs that give it or its values.
        public var commands = CommandSource.Settings()
        public let rule: RuleReference
    }
}

extension CredentialSource {
    /// The methods that a credential of this kind can answer.
    var methods: MethodSet {
        switch self {
        case .password: .password
        case .identity: MethodSet(.clientCertificate)
        case .kerberos: MethodSet(.negotiate)
        case .token, .oauth: MethodSet(.bearer)
        case .registry(let source): MethodSet(source.methods)
        // A credential of this kind waits for no challenge.
        case .signature, .placed: MethodSet(.default)
        case .helper(let helper): MethodSet(of: helper.kind)
        }
    }

    /// Whether a helper gives the answers, to challenges of any scheme.
    var isOfAnyScheme: Bool { helper.map { [.git, .bazel, .cargo].contains($0.kind) } ?? false }

    /// The places of the credential in requests, if set.
    var placements: [CredentialPlacement] {
        if case .placed(_, let placements) = self { placements } else { [] }
    }

    /// The source of a key that signs requests; nil for another kind of credential.
    var signature: SignatureSource? {
        if case .signature(let source) = self { source } else { nil }
    }

    /// Whether the secrets themselves are part of each request.
    var sendsSecrets: Bool {
        if case .signature(.oauth1(let source)) = self { source.method == .plaintext } else { false }
    }

    /// The kind, for use in a sentence.
    var words: String {
        switch self {
        case .password: "a user and a password"
        case .identity: "a certificate and its key"
        case .kerberos: "a Kerberos principal"
        case .token, .oauth: "a token"
        case .registry: "the login of a registry"
        case .signature: "a key that signs requests"
        case .helper: "the credential of a helper"
        case .placed(_, let placements):
            placements.contains(where: \.isPlaceholder)
                ? "a credential with a placeholder" : "a credential with 'header' or 'query'"
        }
    }
}

extension MethodSet {
    /// The methods that a helper can answer.
    fileprivate init(of kind: HelperSource.Kind) {
        self =
            switch kind {
            case .plain, .docker: MethodSet.password.union(MethodSet(.bearer))
            case .git: MethodSet.password.union(MethodSet([.bearer, .other]))
            case .kubectl: MethodSet([.bearer, .clientCertificate])
            case .bazel, .cargo: MethodSet([.basic, .digest, .ntlm, .negotiate, .bearer, .other])
            case .aws: MethodSet(.default)
            }
    }
}
