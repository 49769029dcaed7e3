/// A credential in the rule file: its kind, and the sources of its parts.
public enum CredentialSource: Sendable, Hashable {
    case password(user: ValueSource, password: ValueSource)
    case identity(Identity)
    case kerberos(Kerberos)
    case token(ValueSource)
    case oauth(OAuth)
    case registry(RegistrySource)
    case signature(SignatureSource)
    /// A credential that a program gives.
    case helper(HelperSource)
    /// A password or a token that is sent preemptively with each request, in special places.
    indirect case placed(CredentialSource, [CredentialPlacement])

    /// The files that contain the value. Writing one of them sets the credential again. A Kerberos cache is not
    /// included, since its tickets change regularly.
    public var files: [String] { keyFiles + values.compactMap { $0?.path } }

    /// The files of keys and certificates.
    private var keyFiles: [String] {
        switch self {
        case .identity(let source): source.keyFiles
        case .kerberos(let kerberos): if case .keytab(let path) = kerberos.proof { [path] } else { [] }
        case .oauth(let source): source.keyFiles
        case .signature(let source): source.keyFiles
        case .placed(let source, _): source.keyFiles
        case .password, .token, .registry, .helper: []
        }
    }

    /// The values that make the credential, without the parameters that are sent with them.
    private var values: [ValueSource?] {
        switch self {
        case .password(let user, let password): [user, password]
        case .identity(let source): [source.passphrase]
        case .kerberos(let kerberos): if case .password(let value) = kerberos.proof { [value] } else { [] }
        case .token(let value): [value]
        case .oauth(let source): source.values
        case .registry(let source): [source.login?.user, source.login?.password]
        case .signature(let source): source.values
        case .helper: []
        case .placed(let source, _): source.values
        }
    }

    /// The helper that gives the credential; nil if no program does.
    public var helper: HelperSource? {
        switch self {
        case .helper(let helper): helper
        case .registry(let source): source.helper
        case .signature(let source): source.helper
        case .placed(let source, _): source.helper
        case .password, .identity, .kerberos, .token, .oauth: nil
        }
    }

    /// The programs that give the credential, or a value of it.
    public var commands: [CommandSource] {
        if case .placed(let source, _) = self { return source.commands }
        let sent: [ValueSource?] = if case .oauth(let source) = self { source.parameters.map(\.value) } else { [] }
        return (sent + values).compactMap { $0?.command } + [helper?.command].compactMap(\.self)
    }

    /// The source of a certificate with its private key. Files are read again when they change.
    public enum Identity: Sendable, Hashable {
        /// PEM files: the certificate and its issuers, and the key.
        case pem(certificate: String, key: String, passphrase: ValueSource?)
        /// A PKCS#12 file with all of them.
        case pkcs12(String, passphrase: ValueSource?)
        /// A PKCS#11 URI (RFC 7512) without a PIN; the PIN is the passphrase.
        case pkcs11(String, passphrase: ValueSource?)

        /// The secret that opens the key or the file, or the token's PIN.
        public var passphrase: ValueSource? {
            switch self {
            case .pem(_, _, let passphrase), .pkcs12(_, let passphrase), .pkcs11(_, let passphrase): passphrase
            }
        }

        fileprivate var keyFiles: [String] {
            switch self {
            case .pem(let certificate, let key, _): [certificate, key]
            case .pkcs12(let path, _): [path]
            case .pkcs11: []
            }
        }
    }

    /// A Kerberos principal, with its proof for the key distribution centre.
    public struct Kerberos: Sendable, Hashable {
        public enum Proof: Sendable, Hashable {
            /// A keytab file, read again when it changes.
            case keytab(String)
            /// A credential cache that another program keeps current.
            case cache(TicketCacheName)
            case password(ValueSource)
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
    public struct OAuth: Sendable, Hashable {
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
            /// An assertion that another program writes, such as a projected token (RFC 7523 section 2.2).
            case assertion(TokenSource)
        }

        public enum Grant: Sendable, Hashable {
            /// RFC 6749 section 4.4.
            case clientCredentials
            /// RFC 6749 section 6.
            case refreshToken(ValueSource)
            /// A token of another issuer, to be exchanged (RFC 7523 section 2.1).
            case assertion(TokenSource)
            /// An assertion that the proxy signs (RFC 7523 section 2.1).
            ///
            /// - Parameters:
            ///   - subject: the value of `sub`; nil: the client.
            ///   - audience: the audience of the assertion; nil: the token endpoint.
            case signed(key: String, passphrase: ValueSource?, id: String?, audience: String?, subject: String?)
            /// Token exchange (RFC 8693 section 2.1).
            ///
            /// - Parameter requested: the type of the requested token; nil: the server chooses.
            case exchange(subject: TokenSource, actor: TokenSource?, requested: TokenType?)
        }

        /// A form field that is added to each request.
        public struct Parameter: Sendable, Hashable {
            public let name: String
            public let value: ValueSource

            public init(name: String, value: ValueSource) {
                self.name = name
                self.value = value
            }
        }

        /// The use of `resource` (RFC 8707).
        public enum Resource: Sendable, Hashable {
            /// The resource that the server announces (RFC 9728).
            case auto
            case none
            case url(String)
        }

        /// The server; its URLs are `https`, or `http` for this machine.
        public let server: AuthorizationServer
        /// The client's name at the server; nil for a server without clients.
        public let clientID: String?
        public private(set) var proof: Proof
        public let grant: Grant
        /// The scopes to ask for; with `resource auto`, the most that is asked for.
        public let scopes: [String]
        public let audience: String?
        public var resource = Resource.none
        public var parameters: [Parameter] = []

        public init(
            server: AuthorizationServer, clientID: String?, proof: Proof, grant: Grant, scopes: [String],
            audience: String?
        ) {
            self.server = server
            self.clientID = clientID
            self.proof = proof
            self.grant = grant
            self.scopes = scopes
            self.audience = audience
        }
    }
}

/// A token in a request to an authorization server.
public struct TokenSource: Sendable, Hashable {
    public enum Origin: Sendable, Hashable {
        /// A value; a file is read again for each request.
        case value(ValueSource)
        /// The token of another credential, by its name.
        case credential(String)
    }

    public let origin: Origin
    /// The type of the token, where the request names it.
    public let type: TokenType

    public init(_ origin: Origin, type: TokenType = .jwt) {
        self.origin = origin
        self.type = type
    }

    /// The place of the token; nil for the token of another credential.
    public var value: ValueSource? {
        if case .value(let value) = origin { value } else { nil }
    }
}

/// A type of token (RFC 8693 section 3). The raw value is the word in the rule file.
public enum TokenType: String, Sendable, Hashable, CaseIterable {
    case jwt
    case accessToken = "access_token"
    case idToken = "id_token"
    case refreshToken = "refresh_token"
    case saml2
    /// draft-ietf-oauth-identity-assertion-authz-grant.
    case idJAG = "id-jag"

    /// The identifier in requests.
    public var identifier: String { "urn:ietf:params:oauth:token-type:\(rawValue)" }
}

extension CredentialSource.OAuth {
    /// The files of the client's keys.
    fileprivate var keyFiles: [String] {
        var files: [String] = []
        switch proof {
        case .key(let path, _, _, _): files = [path]
        case .certificate(let path, let key, _): files = [path, key]
        case .none, .secret, .assertion: break
        }
        if case .signed(let key, _, _, _, _) = grant { files.append(key) }
        return files
    }

    /// The secrets of the proof and the grant.
    fileprivate var values: [ValueSource?] {
        var values: [ValueSource?] = []
        switch proof {
        case .secret(let value, _): values.append(value)
        case .key(_, let passphrase, _, _), .certificate(_, _, let passphrase): values.append(passphrase)
        case .assertion(let source): values.append(source.value)
        case .none: break
        }
        switch grant {
        case .refreshToken(let value): values.append(value)
        case .assertion(let source): values.append(source.value)
        case .signed(_, let passphrase, _, _, _): values.append(passphrase)
        case .exchange(let subject, let actor, _): values += [subject.value, actor?.value]
        case .clientCredentials: break
        }
        return values
    }

    /// A copy with another proof.
    public func proved(by proof: Proof) -> CredentialSource.OAuth {
        var source = self
        source.proof = proof
        return source
    }
}
