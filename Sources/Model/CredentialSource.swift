/// A credential in the rule file: its kind, and the sources of its parts.
public enum CredentialSource: Sendable, Hashable {
    case password(user: ValueSource, password: ValueSource)
    case identity(IdentitySource)
    case kerberos(KerberosSource)
    case token(ValueSource)
    case oauth(OAuthSource)
    case signature(SignatureSource)
    /// A password or a token that is sent preemptively with each request, in special places.
    indirect case placed(CredentialSource, [CredentialPlacement])

    /// The files that contain the value. Writing one of them sets the credential again. A Kerberos cache is not
    /// included, since its tickets change regularly.
    public var files: [String] {
        switch self {
        case .password(let user, let password): [user, password].compactMap(\.path)
        case .identity(let identity): identity.files
        case .kerberos(let kerberos): kerberos.proof.files
        case .token(let value): [value].compactMap(\.path)
        case .oauth(let source): source.proof.files + source.grant.files
        case .signature(let source):
            [source.accessKey, source.secretKey, source.sessionToken].compactMap { $0?.path }
        case .placed(let source, _): source.files
        }
    }
}

/// The source of a certificate with its private key. Files are read again when they change.
public enum IdentitySource: Sendable, Hashable {
    /// PEM files: the certificate and its issuers, and the key.
    case pem(certificate: String, key: String, passphrase: ValueSource?)
    /// A PKCS#12 file with all of them.
    case pkcs12(String, passphrase: ValueSource?)
    /// A PKCS#11 URI (RFC 7512) without a PIN; the PIN is the passphrase.
    case pkcs11(String, passphrase: ValueSource?)

    fileprivate var files: [String] {
        switch self {
        case .pem(let certificate, let key, let passphrase): [certificate, key] + [passphrase?.path].compactMap(\.self)
        case .pkcs12(let path, let passphrase): [path] + [passphrase?.path].compactMap(\.self)
        case .pkcs11(_, let passphrase): [passphrase?.path].compactMap(\.self)
        }
    }
}

/// A Kerberos principal, with its proof for the key distribution centre.
public struct KerberosSource: Sendable, Hashable {
    public enum Proof: Sendable, Hashable {
        /// A keytab file, read again when it changes.
        case keytab(String)
        /// A credential cache that another program keeps current.
        case cache(TicketCacheName)
        case password(ValueSource)

        fileprivate var files: [String] {
            switch self {
            case .keytab(let path): [path]
            case .cache: []
            case .password(let value): [value].compactMap(\.path)
            }
        }
    }

    /// The name `NAME@REALM`, `NAME/INSTANCE@REALM`, or without a realm for the default one.
    public let principal: String
    public let proof: Proof

    public init(principal: String, proof: Proof) {
        self.principal = principal
        self.proof = proof
    }
}

/// The authorization server for a bearer token (RFC 6749), with the grant.
public struct OAuthSource: Sendable, Hashable {
    /// The authentication of the proxy as client at the token endpoint.
    public enum Proof: Sendable, Hashable {
        /// A public client.
        case none
        /// `client_secret_basic`, or `client_secret_post` (RFC 6749 section 2.3.1).
        case secret(ValueSource, inBody: Bool)
        /// `private_key_jwt` (RFC 7523 section 2.2).
        /// - Parameter audience: the audience of the assertions; nil: the token endpoint.
        case key(path: String, passphrase: ValueSource?, id: String?, audience: String?)
        /// A certificate to which the tokens are bound (RFC 8705).
        case certificate(path: String, key: String, passphrase: ValueSource?)

        fileprivate var files: [String] {
            switch self {
            case .none: []
            case .secret(let value, _): [value].compactMap(\.path)
            case .key(let path, let passphrase, _, _): [path] + [passphrase?.path].compactMap(\.self)
            case .certificate(let path, let key, let passphrase):
                IdentitySource.pem(certificate: path, key: key, passphrase: passphrase).files
            }
        }
    }

    public enum Grant: Sendable, Hashable {
        /// RFC 6749 section 4.4.
        case clientCredentials
        /// RFC 6749 section 6.
        case refreshToken(ValueSource)
        /// A token of another issuer, to be exchanged (RFC 7523 section 2.1).
        case assertion(ValueSource)

        fileprivate var files: [String] {
            switch self {
            case .clientCredentials: []
            case .refreshToken(let value), .assertion(let value): [value].compactMap(\.path)
            }
        }
    }

    /// The server; its URLs are `https`, or `http` for this machine.
    public let server: AuthorizationServer
    public let clientID: String
    public let proof: Proof
    public let grant: Grant
    public let scopes: [String]
    public let audience: String?

    public init(
        server: AuthorizationServer, clientID: String, proof: Proof, grant: Grant, scopes: [String], audience: String?
    ) {
        self.server = server
        self.clientID = clientID
        self.proof = proof
        self.grant = grant
        self.scopes = scopes
        self.audience = audience
    }
}

/// `aws`: an access key that signs requests (AWS Signature Version 4).
public struct SignatureSource: Sendable, Hashable {
    public let region: String
    public let service: String
    public let accessKey: ValueSource
    public let secretKey: ValueSource
    /// The session token of temporary keys.
    public let sessionToken: ValueSource?
    /// Whether a request's content is hashed before it is sent; if not, `UNSIGNED-PAYLOAD` is sent.
    public let signsPayload: Bool

    public init(
        region: String, service: String, accessKey: ValueSource, secretKey: ValueSource, sessionToken: ValueSource?,
        signsPayload: Bool
    ) {
        self.region = region
        self.service = service
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
        self.signsPayload = signsPayload
    }
}
