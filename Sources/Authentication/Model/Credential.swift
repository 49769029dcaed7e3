import Crypto

/// What opens a protection space. Never changed; an object, since each request passes it on a dozen times.
public final class Credential: Sendable {
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
        case token(Secret)
        case signingKey(SigningKey)
        /// To be exchanged for a token first.
        case grant(TokenGrant)
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

    /// A bearer token. `name` is what logs and explanations call it.
    public init(name: String, token: Secret, persistence: Persistence = .session) {
        content = .token(token)
        self.persistence = persistence
        version = CredentialVersion(name: name, fingerprint: CredentialFingerprint.of(["token"], secrets: [token]))
    }

    /// A key that signs. `name` is what logs and explanations call it.
    public init(name: String, signingKey key: SigningKey, persistence: Persistence = .session) {
        content = .signingKey(key)
        self.persistence = persistence
        let fingerprint = CredentialFingerprint.of(
            ["key", key.region, key.service, key.accessKey, key.signsPayload ? "signed" : "unsigned"],
            secrets: [key.secretKey] + (key.sessionToken.map { [$0] } ?? []))
        version = CredentialVersion(name: name, fingerprint: fingerprint)
    }

    /// What a token is given for. `name` is what logs and explanations call it.
    public init(name: String, grant: TokenGrant, persistence: Persistence = .session) {
        content = .grant(grant)
        self.persistence = persistence
        version = CredentialVersion(name: name, fingerprint: grant.fingerprint)
    }

    public var user: String? {
        if case .password(let user, _) = content { user } else { nil }
    }

    public var password: Secret? {
        if case .password(_, let password) = content { password } else { nil }
    }

    public var identity: (any CertificateIdentity)? {
        if case .identity(let identity) = content { identity } else { nil }
    }

    public var token: Secret? {
        if case .token(let token) = content { token } else { nil }
    }

    public var grant: TokenGrant? {
        if case .grant(let grant) = content { grant } else { nil }
    }

    public var signingKey: SigningKey? {
        if case .signingKey(let key) = content { key } else { nil }
    }

    /// Whether it is of a kind that the space's method has a use for.
    public func suits(_ space: ProtectionSpace) -> Bool {
        switch (content, space.authenticationMethod) {
        case (.password, .basic), (.password, .digest), (.password, .ntlm), (.password, .negotiate),
            (.password, .htmlForm), (.identity, .clientCertificate), (.token, .bearer), (.grant, .bearer),
            (.signingKey, .default):
            true
        case (.password, _), (.identity, _), (.token, _), (.grant, _), (.signingKey, _): false
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
