import Model

/// The kinds of credentials that a storage keeps.
public enum CredentialKind: String, Sendable, Hashable, CaseIterable {
    case password
    case token
    /// A certificate with its private key.
    case certificate
    /// An exception for a server's key.
    case trust
}

extension AuthenticationMethod {
    /// The kind of credential that a storage keeps for the method.
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
    /// The kind; nil for credentials that no storage keeps.
    public var kind: CredentialKind? {
        switch content {
        case .password: .password
        case .token: .token
        case .identity: .certificate
        case .trust: .trust
        case .signingKey, .grant, .principal: nil
        }
    }

    /// The name under which a storage keeps the credential for the space (`user` in `CredentialStorage`): its user, or
    /// the corresponding part of its own name. Nil if that kind is not kept for the space.
    public func storedName(for space: ProtectionSpace) -> String? {
        guard kind == space.authenticationMethod.storedKind else { return nil }
        return user ?? space.user(ofCredentialNamed: version.name)
    }
}
