import Model

extension Configuration {
    /// `credential NAME { … }`.
    public struct Credential: Sendable, Equatable {
        /// Its kind; the rule file says exactly one.
        public enum Content: Sendable, Equatable {
            case password(user: ValueSource, password: ValueSource)
            case identity(IdentitySource)
            case kerberos(KerberosSource)
            case token(ValueSource)
            case oauth(OAuthSource)
            case signature(SignatureSource)

            /// The methods that such a credential can answer.
            var methods: MethodSet {
                switch self {
                case .password: .password
                case .identity: MethodSet(.clientCertificate)
                case .kerberos: MethodSet(.negotiate)
                case .token, .oauth: MethodSet(.bearer)
                // It waits for no challenge.
                case .signature: MethodSet(.default)
                }
            }

            /// Its kind in a sentence.
            var words: String {
                switch self {
                case .password: "a user and a password"
                case .identity: "a certificate and its key"
                case .kerberos: "a Kerberos principal"
                case .token, .oauth: "a token"
                case .signature: "a key that signs"
                }
            }
        }

        public let name: String
        public let content: Content
        public let rule: RuleReference
    }
}

/// Where a certificate with its private key comes from. Files are read again when they change.
public enum IdentitySource: Sendable, Equatable {
    /// PEM files: the certificate and its issuers, and the key.
    case pem(certificate: String, key: String, passphrase: ValueSource?)
    /// A PKCS#12 file with all of them.
    case pkcs12(String, passphrase: ValueSource?)
    /// A PKCS#11 URI (RFC 7512) without a PIN; the PIN is the passphrase.
    case pkcs11(String, passphrase: ValueSource?)
}

/// A Kerberos principal, and what proves it to the key distribution centre.
public struct KerberosSource: Sendable, Equatable {
    public enum Proof: Sendable, Equatable {
        /// A keytab file, read again when it changes.
        case keytab(String)
        /// A credential cache that somebody else keeps current.
        case cache(String)
        case password(ValueSource)
    }

    /// `NAME@REALM`, `NAME/INSTANCE@REALM`, or without a realm for the default one.
    public let principal: String
    public let proof: Proof
}

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

/// `aws`: an access key that signs requests (AWS Signature Version 4).
public struct SignatureSource: Sendable, Equatable {
    public let region: String
    public let service: String
    public let accessKey: ValueSource
    public let secretKey: ValueSource
    /// Of temporary keys.
    public let sessionToken: ValueSource?
    /// Whether a request's content is hashed before it is sent, or `UNSIGNED-PAYLOAD` is said.
    public let signsPayload: Bool
}
