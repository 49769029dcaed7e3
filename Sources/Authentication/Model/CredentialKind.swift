import Model

/// The kinds of credentials that a storage keeps.
public enum CredentialKind: String, Sendable, Hashable, CaseIterable {
    case password
    case token
    /// With its private key.
    case certificate
    /// An exception for a server's key.
    case trust
}

extension AuthenticationMethod {
    /// The kind of credential that a storage keeps for it.
    public var storedKind: CredentialKind {
        switch self {
        case .basic, .digest, .ntlm, .negotiate, .htmlForm, .other, .default: .password
        case .bearer: .token
        case .clientCertificate: .certificate
        case .serverTrust: .trust
        }
    }
}

extension Credential {
    /// Nil for what no storage keeps.
    public var kind: CredentialKind? {
        switch content {
        case .password: .password
        case .token: .token
        case .identity: .certificate
        case .trust: .trust
        case .signingKey, .grant, .principal: nil
        }
    }

    /// The name under which a storage keeps it for the space, where `CredentialStorage` says user: that of the user, or
    /// the part of its own name that stands for one. Nil when it is of a kind that is not kept there.
    public func storedName(for space: ProtectionSpace) -> String? {
        guard kind == space.authenticationMethod.storedKind else { return nil }
        return user ?? space.user(ofCredentialNamed: version.name)
    }
}
