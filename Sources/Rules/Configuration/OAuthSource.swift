/// Where a bearer token is fetched (RFC 6749 section 3.2), and with what.
public struct OAuthSource: Sendable, Equatable {
    /// How the proxy proves at the token endpoint that it is the client.
    public enum Proof: Sendable, Equatable {
        /// A public client.
        case none
        /// `client_secret_basic`, or `client_secret_post` (RFC 6749 section 2.3.1).
        case secret(ValueSource, inBody: Bool)
        /// `private_key_jwt` (RFC 7523 section 2.2).
        case key(path: String, passphrase: ValueSource?, id: String?)
        /// A certificate to which the tokens are bound (RFC 8705).
        case certificate(path: String, key: String, passphrase: ValueSource?)
    }

    public enum Grant: Sendable, Equatable {
        /// RFC 6749 section 4.4.
        case clientCredentials
        /// RFC 6749 section 6.
        case refreshToken(ValueSource)
        /// A token of another issuer in exchange for one (RFC 7523 section 2.1).
        case assertion(ValueSource)
    }

    /// An `https` URL; `http` for this machine alone.
    public let endpoint: String
    public let clientID: String
    public let proof: Proof
    public let grant: Grant
    public let scopes: [String]
    public let audience: String?
}
