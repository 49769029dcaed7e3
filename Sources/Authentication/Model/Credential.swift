import Crypto
import Model

/// The key to a protection space. Never changed; an object, since each request passes it on a dozen times.
public final class Credential: Sendable {
    /// The parts of the credential.
    public enum Content: Sendable {
        case password(user: String, password: Secret)
        case identity(any CertificateIdentity)
        case token(Secret)
        case signingKey(SigningKey)
        /// To be exchanged for a token first.
        case grant(TokenGrant)
        /// A Kerberos principal with its proof.
        case principal
        case trust(TrustException)
    }

    public let content: Content
    public let persistence: Persistence
    public let version: CredentialVersion
    /// Where it stands in requests, if that is not the field of answers: then it goes with every one, and answers nothing.
    public let placements: [CredentialPlacement]
    /// As whom Kerberos logins are made: the principal itself, or the one that a user's name and password belong to.
    public let principal: (any KerberosPrincipal)?
    /// Whether a client brought it along, in a URL or in an answer of its own.
    public let isBrought: Bool

    /// A user and a password. `name` is what logs and explanations call it.
    ///
    /// - Parameters:
    ///   - principal: the user's Kerberos principal; nil where no KDC is asked.
    ///   - isBrought: whether a client brought it along; a long `name` is then kept as `BoundedName`.
    public init(
        name: String, user: String, password: Secret, persistence: Persistence = .session,
        principal: (any KerberosPrincipal)? = nil, isBrought: Bool = false
    ) {
        content = .password(user: user, password: password)
        self.principal = principal
        self.isBrought = isBrought
        self.persistence = persistence
        placements = []
        version = CredentialVersion(
            name: isBrought ? BoundedName.of(name) : name,
            fingerprint: CredentialFingerprint.of(user: user, password: password))
    }

    /// A credential in a storage that tells its values apart itself: what was set again is another value even where its
    /// content is the same. `name` is what logs and explanations call it.
    ///
    /// - Parameter principal: the Kerberos principal of a user and a password; nil where no KDC is asked.
    public init(
        name: String, content: Content, persistence: Persistence, fingerprint: UInt128,
        principal: (any KerberosPrincipal)? = nil
    ) {
        self.content = content
        self.principal = principal
        self.persistence = persistence
        placements = []
        isBrought = false
        version = CredentialVersion(name: name, fingerprint: fingerprint)
    }

    /// A certificate with its key. `name` is what logs and explanations call it.
    public init(name: String, identity: any CertificateIdentity, persistence: Persistence = .session) {
        content = .identity(identity)
        principal = nil
        self.persistence = persistence
        placements = []
        isBrought = false
        version = CredentialVersion(name: name, fingerprint: identity.fingerprint)
    }

    /// A bearer token. `name` is what logs and explanations call it.
    public init(name: String, token: Secret, persistence: Persistence = .session) {
        content = .token(token)
        principal = nil
        self.persistence = persistence
        placements = []
        isBrought = false
        version = CredentialVersion(name: name, fingerprint: CredentialFingerprint.of(["token"], secrets: [token]))
    }

    /// A key that signs. `name` is what logs and explanations call it.
    public init(name: String, signingKey key: SigningKey, persistence: Persistence = .session) {
        content = .signingKey(key)
        principal = nil
        self.persistence = persistence
        placements = []
        isBrought = false
        let fingerprint = CredentialFingerprint.of(
            ["key", key.region, key.service, key.accessKey, key.signsPayload ? "signed" : "unsigned"],
            secrets: [key.secretKey] + (key.sessionToken.map { [$0] } ?? []))
        version = CredentialVersion(name: name, fingerprint: fingerprint)
    }

    /// An exception for a server's key. `name` is what logs and explanations call it.
    public init(name: String, trust exception: TrustException, persistence: Persistence = .session) {
        content = .trust(exception)
        principal = nil
        self.persistence = persistence
        placements = []
        isBrought = false
        version = CredentialVersion(
            name: name,
            fingerprint: CredentialFingerprint.of(["trust", "\(exception.pin)", "\(exception.until)"], secrets: []))
    }

    /// The grant of a token. `name` is its name in logs and explanations.
    public init(name: String, grant: TokenGrant, persistence: Persistence = .session) {
        content = .grant(grant)
        principal = nil
        self.persistence = persistence
        placements = []
        isBrought = false
        version = CredentialVersion(name: name, fingerprint: grant.fingerprint, isGrant: true)
    }

    /// A Kerberos principal. `name` is what logs and explanations call it.
    ///
    /// - Parameter fingerprint: equal for equal proof of who it is.
    public init(
        name: String, principal: any KerberosPrincipal, fingerprint: UInt128, persistence: Persistence = .session
    ) {
        content = .principal
        self.principal = principal
        self.persistence = persistence
        placements = []
        isBrought = false
        version = CredentialVersion(name: name, fingerprint: fingerprint)
    }

    /// The bytes of its name, and of its user and password.
    public var byteCount: Int { version.name.utf8.count + (user?.utf8.count ?? 0) + (password?.count ?? 0) }

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

    public var trustException: TrustException? {
        if case .trust(let exception) = content { exception } else { nil }
    }

    /// Whether it is of a kind that the space's method has a use for.
    public func canAnswer(_ space: ProtectionSpace) -> Bool {
        if !placements.isEmpty { return false }
        return switch (content, space.authenticationMethod) {
        case (.password, .negotiate): principal != nil
        case (.password, .basic), (.password, .digest), (.password, .ntlm), (.password, .htmlForm),
            (.identity, .clientCertificate), (.token, .bearer), (.grant, .bearer), (.signingKey, .default),
            (.principal, .negotiate), (.trust, .serverTrust):
            true
        case (.password, _), (.identity, _), (.token, _), (.grant, _), (.signingKey, _), (.principal, _), (.trust, _):
            false
        }
    }

    /// The same credential, kept for as long as a rule says.
    public func with(_ persistence: Persistence) -> Credential {
        persistence == self.persistence
            ? self : Credential(self, persistence: persistence, placements: placements, version: version)
    }

    /// The same credential in these places; another value to whoever tells values apart.
    public func placed(in placements: [CredentialPlacement]) -> Credential {
        var words = ["placed", "\(version.fingerprint)"]
        for placement in placements { words += ["\(placement)"] + placement.value.map { "\($0)" } }
        let fingerprint = CredentialFingerprint.of(words, secrets: [])
        return Credential(
            self, persistence: persistence, placements: placements,
            version: CredentialVersion(name: version.name, fingerprint: fingerprint))
    }

    private init(
        _ other: Credential, persistence: Persistence, placements: [CredentialPlacement], version: CredentialVersion
    ) {
        content = other.content
        principal = other.principal
        isBrought = other.isBrought
        self.persistence = persistence
        self.placements = placements
        self.version = version
    }
}

extension Credential: CustomStringConvertible {
    public var description: String { "credential \(version.name)" }
}

/// A certificate chain with its private key: the answer to a session-level challenge for a client certificate.
/// The owner of TLS knows its type; here it is only told from others.
public protocol CertificateIdentity: AnyObject, Sendable {
    /// Equal for equal chains, within this process.
    var fingerprint: UInt128 { get }
}

/// An access key that signs requests (AWS Signature Version 4), for one service in one region.
public struct SigningKey: Sendable {
    public let region: String
    public let service: String
    /// The key's name, which goes with every request.
    public let accessKey: String
    let secretKey: Secret
    /// Of temporary keys; goes with every request, and is worth nothing without the secret.
    let sessionToken: Secret?
    /// Whether the signature covers the content; else `UNSIGNED-PAYLOAD` is said, which S3 takes.
    public let signsPayload: Bool

    public init(
        region: String, service: String, accessKey: String, secretKey: Secret, sessionToken: Secret? = nil,
        signsPayload: Bool = true
    ) {
        self.region = region
        self.service = service
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
        self.signsPayload = signsPayload
    }

    /// Whether the service is one of S3's: their paths are encoded once, and content may go unsigned.
    public var isS3: Bool { service == "s3" || service.hasPrefix("s3-") || service == "s3express" }
}
