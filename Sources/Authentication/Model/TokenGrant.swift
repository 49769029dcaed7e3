import Bytes
import Crypto
import Model

/// The grant of a token (RFC 6749): a credential that answers no challenge itself, but is exchanged for a token that
/// does.
public struct TokenGrant: Sendable {
    /// The authentication of the client at the endpoint.
    public enum Proof: Sendable {
        /// A public client.
        case none
        /// `client_secret_basic`, or `client_secret_post` (section 2.3.1).
        case secret(Secret, inBody: Bool)
        /// `private_key_jwt` (RFC 7523 section 2.2), with the key's name at the endpoint and the audience of the
        /// assertion; nil: the endpoint.
        case key(any AssertionSigner, id: String?, audience: String? = nil)
        /// A certificate that is shown in the handshake, and to which the tokens are bound (RFC 8705).
        case certificate(any CertificateIdentity)
    }

    public enum Kind: Sendable {
        /// Section 4.4.
        case clientCredentials
        /// Section 6.
        case refreshToken(Secret)
        /// A token of another issuer, to be exchanged (RFC 7523 section 2.1).
        case assertion(Secret)
    }

    public let server: AuthorizationServer
    public let clientID: String
    public let proof: Proof
    public let kind: Kind
    public let scopes: [String]
    public let audience: String?

    public init(
        server: AuthorizationServer, clientID: String, proof: Proof, kind: Kind = .clientCredentials,
        scopes: [String] = [], audience: String? = nil
    ) {
        self.server = server
        self.clientID = clientID
        self.proof = proof
        self.kind = kind
        self.scopes = scopes
        self.audience = audience
    }

    /// The name of the authorization server in accounts.
    public var serverName: String {
        let url = server.url
        return Origin(host: url.host, port: url.port, protocol: url.isSecure ? .https : .http).serverName
    }

    /// A copy with the token endpoint that was discovered.
    public func at(_ endpoint: HTTPEndpoint) -> TokenGrant {
        TokenGrant(
            server: .endpoint(endpoint, issuer: server.issuer), clientID: clientID, proof: proof, kind: kind,
            scopes: scopes, audience: audience)
    }

    /// A copy with the refresh token that the endpoint sent in place of the current one.
    public func renewed(by token: Secret) -> TokenGrant {
        TokenGrant(
            server: server, clientID: clientID, proof: proof, kind: .refreshToken(token), scopes: scopes,
            audience: audience)
    }

    /// Equal for equal grants, within this process.
    var fingerprint: UInt128 {
        var words = ["grant", "\(server)", clientID, audience ?? ""] + scopes
        var secrets: [Secret] = []
        switch proof {
        case .none: words.append("public")
        case .secret(let secret, let inBody):
            words.append(inBody ? "post" : "basic")
            secrets.append(secret)
        case .key(let key, let id, let audience):
            words += ["key", id ?? "", "\(key.fingerprint)"] + (audience.map { ["for", $0] } ?? [])
        case .certificate(let identity): words += ["certificate", "\(identity.fingerprint)"]
        }
        switch kind {
        case .clientCredentials: words.append("client")
        case .refreshToken(let token):
            words.append("refresh")
            secrets.append(token)
        case .assertion(let token):
            words.append("assertion")
            secrets.append(token)
        }
        return CredentialFingerprint.of(words, secrets: secrets)
    }
}

/// A private key that signs assertions (RFC 7515). The target that owns keys knows its type.
public protocol AssertionSigner: AnyObject, Sendable {
    /// The name of the signature algorithm in RFC 7518 section 3.1, such as `ES256`.
    var algorithm: String { get }
    /// Equal for equal keys, within this process.
    var fingerprint: UInt128 { get }

    /// The signature in the form of RFC 7518; nil if the key cannot be used.
    func signature(of bytes: [UInt8]) -> [UInt8]?
}
