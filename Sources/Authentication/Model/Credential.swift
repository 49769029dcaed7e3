import Crypto

/// What opens a protection space.
public struct Credential: Sendable {
    /// How long a credential is kept once it was accepted.
    public enum Persistence: String, Sendable, Hashable {
        /// For this request.
        case none
        /// For this client's session.
        case session
        /// In the store.
        case permanent
    }

    /// What the credential consists of.
    public enum Content: Sendable {
        case password(user: String, password: Secret)
        case identity(any CertificateIdentity)
    }

    public let content: Content
    public let persistence: Persistence
    public let version: CredentialVersion

    /// A user and a password. `name` is what logs and explanations call it.
    public init(name: String, user: String, password: Secret, persistence: Persistence = .session) {
        content = .password(user: user, password: password)
        self.persistence = persistence
        version = CredentialVersion(name: name, fingerprint: CredentialFingerprint.of(user: user, password: password))
    }

    /// A certificate with its key. `name` is what logs and explanations call it.
    public init(name: String, identity: any CertificateIdentity, persistence: Persistence = .session) {
        content = .identity(identity)
        self.persistence = persistence
        version = CredentialVersion(name: name, fingerprint: identity.fingerprint)
    }

    public var user: String? {
        switch content {
        case .password(let user, _): user
        case .identity: nil
        }
    }

    public var password: Secret? {
        switch content {
        case .password(_, let password): password
        case .identity: nil
        }
    }

    public var identity: (any CertificateIdentity)? {
        switch content {
        case .password: nil
        case .identity(let identity): identity
        }
    }

    /// The same credential, kept for as long as a rule says.
    public func with(_ persistence: Persistence) -> Credential {
        Credential(content: content, persistence: persistence, version: version)
    }

    private init(content: Content, persistence: Persistence, version: CredentialVersion) {
        self.content = content
        self.persistence = persistence
        self.version = version
    }
}

extension Credential: CustomStringConvertible {
    public var description: String { "credential \(version.name)" }
}
