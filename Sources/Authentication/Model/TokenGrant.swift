import Crypto
import Model

/// The grant of a token (RFC 6749): a credential that answers no challenge itself, but is exchanged for a token that
/// does.
public struct TokenGrant: Sendable {
    /// A file with a token. The target that reads files knows its type.
    public protocol File: Sendable {
        var path: String { get }
        /// Reads the file. Blocks: do not call it on a loop.
        func read() throws(TokenGrant.FileFailure) -> Secret
    }

    /// The reason why a file has no token, as a sentence.
    public struct FileFailure: Error {
        public let sentence: String

        public init(_ sentence: String) { self.sentence = sentence }
    }

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
        /// An assertion that another program made (RFC 7523 section 2.2).
        case assertion(Input)
    }

    public enum Kind: Sendable {
        /// Section 4.4.
        case clientCredentials
        /// Section 6.
        case refreshToken(Secret)
        /// A token of another issuer, to be exchanged (RFC 7523 section 2.1).
        case assertion(Input)
        /// An assertion that is signed here (RFC 7523 section 2.1). The subject is the client if nil, the audience the
        /// endpoint.
        case signed(any AssertionSigner, id: String?, audience: String?, subject: String?)
        /// Token exchange (RFC 8693 section 2.1).
        case exchange(subject: Input, actor: Input?, requested: TokenType?)
        /// A user and a password for the token server of a registry; nil for the tokens that anyone gets. The audience
        /// is the registry's `service`.
        case registry(Credential?)
    }

    public private(set) var server: AuthorizationServer
    /// The client's name; nil for a server without clients.
    public let clientID: String?
    public private(set) var proof: Proof
    public private(set) var kind: Kind
    public private(set) var scopes: [String]
    public private(set) var audience: String?
    /// The use of `resource` (RFC 8707). With `auto`, the request has none until a server has announced one.
    public var resource = CredentialSource.OAuth.Resource.none
    /// The form fields that are added to each request.
    public var parameters: [(name: String, value: Secret)] = []

    public init(
        server: AuthorizationServer, clientID: String?, proof: Proof, kind: Kind = .clientCredentials,
        scopes: [String] = [], audience: String? = nil
    ) {
        self.server = server
        self.clientID = clientID
        self.proof = proof
        self.kind = kind
        self.scopes = scopes
        self.audience = audience
    }

    /// The name of the authorization server in accounts; nil for a registry's own, before its challenge.
    public var serverName: String? {
        guard let url = server.url else { return nil }
        return Origin(host: url.host, port: url.port, protocol: url.isSecure ? .https : .http).serverName
    }

    /// A copy with the token endpoint that was discovered.
    public func at(_ endpoint: HTTPEndpoint) -> TokenGrant {
        var grant = self
        grant.server = .endpoint(endpoint, issuer: server.issuer)
        return grant
    }

    /// A copy with the refresh token that the endpoint sent in place of the current one.
    public func renewed(by token: Secret) -> TokenGrant {
        var grant = self
        grant.kind = .refreshToken(token)
        return grant
    }

    /// A copy for one resource and these scopes.
    ///
    /// - Parameter resource: nil leaves the field out.
    public func narrowed(to resource: String?, scopes: [String]) -> TokenGrant {
        var grant = self
        grant.resource = resource.map { .url($0) } ?? .none
        grant.scopes = scopes
        return grant
    }

    /// A copy for exactly the token that a registry asks for.
    public func asked(at server: HTTPEndpoint, service: String?, scopes: RegistryScopes) -> TokenGrant {
        var grant = self
        grant.server = .endpoint(server)
        grant.audience = service
        grant.scopes = scopes.texts
        grant.resource = .none
        return grant
    }

    /// Whether it is for the tokens of registries.
    public var isRegistry: Bool { if case .registry = kind { true } else { false } }

    /// The tokens of other programs and credentials that a request contains, the client's assertion last.
    public var inputs: [Input] {
        var inputs: [Input] = []
        switch kind {
        case .assertion(let input): inputs.append(input)
        case .exchange(let subject, let actor, _): inputs += [subject] + (actor.map { [$0] } ?? [])
        case .clientCredentials, .refreshToken, .signed, .registry: break
        }
        if case .assertion(let input) = proof { inputs.append(input) }
        return inputs
    }

    /// A copy with these values of `inputs`.
    public func with(_ values: [Secret]) -> TokenGrant {
        var values = values[...]
        var (kind, proof) = (self.kind, self.proof)
        let next = { (input: Input) -> Input in
            values.popFirst().map { Input(.secret($0), type: input.type) } ?? input
        }
        switch kind {
        case .assertion(let input): kind = .assertion(next(input))
        case .exchange(let subject, let actor, let requested):
            kind = .exchange(subject: next(subject), actor: actor.map(next), requested: requested)
        case .clientCredentials, .refreshToken, .signed, .registry: break
        }
        if case .assertion(let input) = proof { proof = .assertion(next(input)) }
        var grant = self
        (grant.kind, grant.proof) = (kind, proof)
        return grant
    }

    /// Whether the tokens are for other token requests too, so that they need not be bearer tokens (RFC 8693 section
    /// 2.2.1).
    public var isExchange: Bool {
        if case .exchange = kind { true } else { false }
    }

    /// Equal for equal grants, within this process.
    var fingerprint: UInt128 {
        var words = ["grant", "\(server)", clientID ?? "", audience ?? ""] + scopes
        var secrets: [Secret] = []
        let add = { (input: Input) in
            words += input.words
            if case .secret(let secret) = input.source { secrets.append(secret) }
        }
        switch proof {
        case .none: words.append("public")
        case .secret(let secret, let inBody):
            words.append(inBody ? "post" : "basic")
            secrets.append(secret)
        case .key(let key, let id, let audience):
            words += ["key", id ?? "", "\(key.fingerprint)"] + (audience.map { ["for", $0] } ?? [])
        case .certificate(let identity): words += ["certificate", "\(identity.fingerprint)"]
        case .assertion(let input):
            words.append("proof")
            add(input)
        }
        switch kind {
        case .clientCredentials: words.append("client")
        case .refreshToken(let token):
            words.append("refresh")
            secrets.append(token)
        case .assertion(let input):
            words.append("assertion")
            add(input)
        case .signed(let key, let id, let audience, let subject):
            words += ["signed", id ?? "", "\(key.fingerprint)", audience ?? "", subject ?? ""]
        case .exchange(let subject, let actor, let requested):
            words += ["exchange", requested?.rawValue ?? "", actor == nil ? "" : "actor"]
            add(subject)
            if let actor { add(actor) }
        case .registry(let login): words += ["registry", login.map { "\($0.version.fingerprint)" } ?? "anyone"]
        }
        switch resource {
        case .none: break
        case .auto: words.append("auto")
        case .url(let url): words += ["resource", url]
        }
        for parameter in parameters {
            words += ["parameter", parameter.name]
            secrets.append(parameter.value)
        }
        return CredentialVersion.Fingerprint.of(words, secrets: secrets)
    }

    /// A token that a request to an authorization server contains.
    public struct Input: Sendable {
        public enum Source: Sendable {
            case secret(Secret)
            /// A file, which is read again for each request.
            case file(any File)
            /// The token of another credential, by its name.
            case credential(String)
        }

        public let source: Source
        public let type: TokenType

        public init(_ source: Source, type: TokenType = .jwt) {
            self.source = source
            self.type = type
        }

        /// The source as words of a fingerprint. A file is its path, because another program writes a new token before
        /// the present one expires.
        fileprivate var words: [String] {
            switch source {
            case .secret: ["secret", type.rawValue]
            case .file(let file): ["file", file.path, type.rawValue]
            case .credential(let name): ["credential", name, type.rawValue]
            }
        }
    }
}

/// A private key that signs assertions (RFC 7515) or requests, by one algorithm. The target that owns keys knows its
/// type.
public protocol AssertionSigner: AnyObject, Sendable {
    /// The name of the signature algorithm: for assertions in RFC 7518 section 3.1, such as `ES256`.
    var algorithm: String { get }
    /// Equal for equal keys, within this process.
    var fingerprint: UInt128 { get }

    /// The signature in the form of the algorithm's specification; nil if the key cannot be used.
    func signature(of bytes: [UInt8]) -> [UInt8]?
}
