import Crypto
import Model

/// A credential for a protection space. Immutable; a class, since each request passes it on a dozen times.
public final class Credential: Sendable {
    /// The value of a credential, by kind.
    public enum Content: Sendable {
        case password(user: String, password: Secret)
        case identity(any CertificateIdentity)
        case token(Secret)
        /// A token that is sent on connections with the certificate, as plugins of Kubernetes may give both.
        case tokenAndIdentity(Secret, any CertificateIdentity)
        /// A registry's token, with the scopes that it was asked for.
        case registryToken(Secret, RegistryScopes)
        case signingKey(SigningKey)
        /// A grant, to be exchanged for a token first.
        case grant(TokenGrant)
        /// A Kerberos principal with its key or ticket.
        case principal
        case trust(TrustException)
        /// An answer that a program has made, for any scheme.
        case given(GivenAnswer)
    }

    public let content: Content
    public let persistence: Persistence
    public let version: CredentialVersion
    /// The places of the credential in requests, if it is not sent as an answer. Then it is part of every request, and
    /// answers no challenge.
    public let placements: [CredentialPlacement]
    /// The principal for Kerberos logins: the credential itself, or the principal of its user and password.
    public let principal: (any KerberosPrincipal)?
    /// Whether a client sent the credential, in a URL or in its own answer.
    public let isBrought: Bool
    /// Whether it is a grant for the tokens that servers announce: by RFC 9728, or as registries do.
    public var isAnnounced: Bool { version.isAnnounced }

    /// Creates a user and a password. `name` is used in logs and explanations.
    ///
    /// - Parameters:
    ///   - principal: the user's Kerberos principal; nil if no KDC is asked.
    ///   - isBrought: whether a client sent the credential. A long `name` is then stored as `BoundedName`.
    public convenience init(
        name: String, user: String, password: Secret, persistence: Persistence = .session,
        principal: (any KerberosPrincipal)? = nil, isBrought: Bool = false
    ) {
        let version = CredentialVersion(
            name: isBrought ? BoundedName.of(name) : name,
            fingerprint: CredentialVersion.Fingerprint.of(user: user, password: password))
        self.init(
            .password(user: user, password: password), version, persistence, principal: principal, isBrought: isBrought)
    }

    /// Creates a credential of a storage that distinguishes values itself. A value that was set again is a different
    /// one, even with equal content. `name` is used in logs and explanations.
    ///
    /// - Parameter principal: the Kerberos principal of a user and a password; nil if no KDC is asked.
    public convenience init(
        name: String, content: Content, persistence: Persistence, fingerprint: UInt128,
        principal: (any KerberosPrincipal)? = nil
    ) {
        self.init(
            content, CredentialVersion(name: name, fingerprint: fingerprint), persistence, principal: principal)
    }

    /// Creates a certificate with its key. `name` is used in logs and explanations.
    public convenience init(name: String, identity: any CertificateIdentity, persistence: Persistence = .session) {
        self.init(
            name: name, content: .identity(identity), persistence: persistence, fingerprint: identity.fingerprint)
    }

    /// Creates a bearer token. `name` is used in logs and explanations.
    ///
    /// - Parameter scopes: the scopes that it was asked for, for a registry's token; nil for others.
    public convenience init(
        name: String, token: Secret, scopes: RegistryScopes? = nil, persistence: Persistence = .session
    ) {
        self.init(
            name: name, content: scopes.map { .registryToken(token, $0) } ?? .token(token), persistence: persistence,
            fingerprint: CredentialVersion.Fingerprint.of(["token"], secrets: [token]))
    }

    /// Creates a bearer token with a certificate. `name` is used in logs and explanations. They are one value: another
    /// token or certificate is another version.
    public convenience init(name: String, token: Secret, identity: any CertificateIdentity) {
        self.init(
            name: name, content: .tokenAndIdentity(token, identity), persistence: .session,
            fingerprint: CredentialVersion.Fingerprint.of(["token", "\(identity.fingerprint)"], secrets: [token]))
    }

    /// Creates a signing key. `name` is used in logs and explanations.
    public convenience init(name: String, signingKey key: SigningKey, persistence: Persistence = .session) {
        self.init(name: name, content: .signingKey(key), persistence: persistence, fingerprint: key.fingerprint)
    }

    /// Creates an exception for a server's key. `name` is used in logs and explanations.
    public convenience init(name: String, trust exception: TrustException, persistence: Persistence = .session) {
        self.init(
            name: name, content: .trust(exception), persistence: persistence,
            fingerprint: CredentialVersion.Fingerprint.of(
                ["trust", "\(exception.pin)", "\(exception.until)"], secrets: []))
    }

    /// Creates the grant of a token. `name` is used in logs and explanations.
    public convenience init(name: String, grant: TokenGrant, persistence: Persistence = .session) {
        let version = CredentialVersion(
            name: name, fingerprint: grant.fingerprint, isGrant: true, isAnnounced: grant.resource == .auto,
            isRegistry: grant.isRegistry)
        self.init(.grant(grant), version, persistence)
    }

    /// Creates an answer that a program has made. `name` is used in logs and explanations.
    public convenience init(name: String, given: GivenAnswer) {
        self.init(
            name: name, content: .given(given), persistence: given.isForOneRequest ? .none : .session,
            fingerprint: given.fingerprint(of: name))
    }

    /// Creates a Kerberos principal. `name` is used in logs and explanations.
    ///
    /// - Parameter fingerprint: equal for equal keys.
    public convenience init(
        name: String, principal: any KerberosPrincipal, fingerprint: UInt128, persistence: Persistence = .session
    ) {
        self.init(
            name: name, content: .principal, persistence: persistence, fingerprint: fingerprint, principal: principal)
    }

    private init(
        _ content: Content, _ version: CredentialVersion, _ persistence: Persistence,
        principal: (any KerberosPrincipal)? = nil, isBrought: Bool = false, placements: [CredentialPlacement] = []
    ) {
        self.content = content
        self.version = version
        self.persistence = persistence
        self.principal = principal
        self.isBrought = isBrought
        self.placements = placements
    }

    /// The size of the name, user and password, in bytes.
    public var byteCount: Int { version.name.utf8.count + (user?.utf8.count ?? 0) + (password?.count ?? 0) }

    public var user: String? {
        if case .password(let user, _) = content { user } else { nil }
    }

    public var password: Secret? {
        if case .password(_, let password) = content { password } else { nil }
    }

    public var identity: (any CertificateIdentity)? {
        switch content {
        case .identity(let identity), .tokenAndIdentity(_, let identity): identity
        default: nil
        }
    }

    public var token: Secret? {
        switch content {
        case .token(let token), .registryToken(let token, _), .tokenAndIdentity(let token, _): token
        default: nil
        }
    }

    /// Whether the password is a registry's identity token, as Docker's helpers mark it.
    public var isIdentityToken: Bool { user == "<token>" }

    /// The scopes that a registry's token was asked for; nil for other credentials.
    public var registryScopes: RegistryScopes? {
        if case .registryToken(_, let scopes) = content { scopes } else { nil }
    }

    public var grant: TokenGrant? {
        if case .grant(let grant) = content { grant } else { nil }
    }

    public var signingKey: SigningKey? {
        if case .signingKey(let key) = content { key } else { nil }
    }

    public var given: GivenAnswer? {
        if case .given(let given) = content { given } else { nil }
    }

    public var trustException: TrustException? {
        if case .trust(let exception) = content { exception } else { nil }
    }

    /// The credential whose value answers there: for Basic, the user and password of a registry's login.
    public func answering(in space: ProtectionSpace) -> Credential {
        guard version.isRegistry, space.authenticationMethod == .basic, case .grant(let grant) = content,
            case .registry(let login?) = grant.kind, !login.isIdentityToken
        else { return self }
        return login.with(persistence)
    }

    /// Whether it is a grant for the tokens of registries.
    public var isRegistry: Bool { version.isRegistry }

    /// Whether the space's method can use this kind of credential.
    public func canAnswer(_ space: ProtectionSpace) -> Bool {
        if !placements.isEmpty { return false }
        let wanted = space.authenticationMethod.traits.credential
        return switch content {
        case .password: wanted == .password || wanted == .ticket && principal != nil
        case .identity: wanted == .certificate
        case .token, .registryToken: wanted == .token
        case .tokenAndIdentity: wanted == .token || wanted == .certificate
        case .grant: wanted == .token || answering(in: space) !== self
        case .principal: wanted == .ticket
        case .trust: wanted == .exception
        case .signingKey: space.authenticationMethod == .default
        case .given: space.authenticationMethod.isOfResponses && space.authenticationMethod != .htmlForm
        }
    }

    /// Returns the kind; nil for a kind that a storage does not keep.
    public var kind: CredentialKind? {
        switch content {
        case .password: .password
        case .token: .token
        case .identity: .certificate
        case .trust: .trust
        case .signingKey, .grant, .principal, .registryToken, .tokenAndIdentity, .given: nil
        }
    }

    /// The name under which a storage keeps it for the space, where `StoredCredentials` says user: that of the user, or
    /// the part of its own name that stands for one. Nil when it is of a kind that is not kept there.
    public func storedName(for space: ProtectionSpace) -> String? {
        guard kind == space.authenticationMethod.storedKind else { return nil }
        return user ?? space.user(ofCredentialNamed: version.name)
    }

    /// A copy with the persistence of a rule.
    ///
    /// An answer for one request is never kept.
    public func with(_ persistence: Persistence) -> Credential {
        if persistence == self.persistence || given?.isForOneRequest == true { return self }
        return Credential(
            content, version, persistence, principal: principal, isBrought: isBrought, placements: placements)
    }

    /// A copy for these places. It counts as another value.
    public func placed(in placements: [CredentialPlacement]) -> Credential {
        var words = ["placed", "\(version.fingerprint)"]
        for placement in placements { words += ["\(placement)"] + placement.value.map { "\($0)" } }
        let placed = CredentialVersion(
            name: version.name, fingerprint: CredentialVersion.Fingerprint.of(words, secrets: []))
        return Credential(
            content, placed, persistence, principal: principal, isBrought: isBrought, placements: placements)
    }
}

extension Credential: CustomStringConvertible {
    public var description: String { "credential \(version.name)" }
}

/// A certificate chain with its private key: the answer to a session-level challenge for a client certificate. The TLS
/// target knows its type; here it is only compared.
public protocol CertificateIdentity: AnyObject, Sendable {
    /// Equal for equal chains, within this process.
    var fingerprint: UInt128 { get }
}
