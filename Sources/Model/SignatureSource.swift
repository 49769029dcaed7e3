/// A key that signs requests: its kind, and the sources of its parts.
public enum SignatureSource: Sendable, Hashable {
    /// The signature methods of OAuth 1.0a (RFC 5849 section 3.4), with their words in the rule file.
    public enum OAuth1Method: String, Sendable, Hashable, CaseIterable {
        case hmacSHA1 = "hmac-sha1"
        case hmacSHA256 = "hmac-sha256"
        case rsaSHA1 = "rsa-sha1"
        case plaintext

        /// The value of `oauth_signature_method`.
        public var name: String { rawValue.uppercased() }
    }

    case aws(AWS)
    case oauth1(OAuth1)
    case message(Message)

    public var scheme: Scheme {
        switch self {
        case .aws: .aws
        case .oauth1: .oauth1
        case .message: .message
        }
    }

    /// The helper that gives the key; nil if no program does.
    var helper: HelperSource? {
        if case .aws(let source) = self, case .helper(let helper) = source.keys { helper } else { nil }
    }

    /// The values that are read with the key.
    var values: [ValueSource?] {
        switch self {
        case .aws(let source):
            if case .values(let access, let secret, let token) = source.keys { [access, secret, token] } else { [] }
        case .oauth1(let source): source.values
        case .message(let source): [source.passphrase]
        }
    }

    /// The files of keys.
    var keyFiles: [String] {
        switch self {
        case .aws: []
        case .oauth1(let source): if case .key(let path, _) = source.proof { [path] } else { [] }
        case .message(let source): [source.key]
        }
    }

    /// The source of the secret part.
    public var place: ValueSource? {
        switch self {
        case .aws(let source):
            switch source.keys {
            case .values(_, let secret, _): secret
            case .helper(let helper): .command(helper.command)
            }
        case .oauth1(let source):
            switch source.proof {
            case .secret(let secret): secret
            case .key(let path, _): .file(path)
            }
        case .message(let source): .file(source.key)
        }
    }

    /// `aws`: an access key that signs requests (AWS Signature Version 4).
    public struct AWS: Sendable, Hashable {
        /// The source of the keys.
        public enum Keys: Sendable, Hashable {
            /// - Parameter token: the session token of temporary keys.
            case values(access: ValueSource, secret: ValueSource, token: ValueSource?)
            case helper(HelperSource)
        }

        public let region: String
        public let service: String
        public let keys: Keys
        /// Whether a request's content is hashed before it is sent; if not, `UNSIGNED-PAYLOAD` is sent.
        public let signsPayload: Bool

        public init(
            region: String, service: String, keys: SignatureSource.AWS.Keys, signsPayload: Bool
        ) {
            self.region = region
            self.service = service
            self.keys = keys
            self.signsPayload = signsPayload
        }
    }

    /// `oauth1`: the credentials of a client, and perhaps those of a resource owner (RFC 5849).
    public struct OAuth1: Sendable, Hashable {
        /// The client's secret.
        public enum Proof: Sendable, Hashable {
            case secret(ValueSource)
            /// The file of an RSA key in PEM.
            case key(path: String, passphrase: ValueSource?)
        }

        /// The token credentials (RFC 5849 section 2.3).
        public struct Token: Sendable, Hashable {
            public let identifier: ValueSource
            /// The secret; nil for RSA-SHA1, which does not use it.
            public let secret: ValueSource?

            public init(identifier: ValueSource, secret: ValueSource?) {
                self.identifier = identifier
                self.secret = secret
            }
        }

        public let method: OAuth1Method
        public let consumerKey: ValueSource
        public let proof: Proof
        public let token: Token?
        public let realm: String?
        /// Whether content that is no form is hashed for `oauth_body_hash`.
        public let signsPayload: Bool

        public init(
            method: OAuth1Method, consumerKey: ValueSource, proof: Proof, token: Token?, realm: String?,
            signsPayload: Bool
        ) {
            self.method = method
            self.consumerKey = consumerKey
            self.proof = proof
            self.token = token
            self.realm = realm
            self.signsPayload = signsPayload
        }

        fileprivate var values: [ValueSource?] {
            let own: ValueSource? =
                switch proof {
                case .secret(let secret): secret
                case .key(_, let passphrase): passphrase
                }
            return [consumerKey, own, token?.identifier, token?.secret]
        }
    }

    /// `sign`: the key of an agent (RFC 9421 and Web Bot Auth, draft-ietf-webbotauth-httpsig-protocol).
    public struct Message: Sendable, Hashable {
        /// The file of an Ed25519 key in PEM.
        public let key: String
        public let passphrase: ValueSource?
        /// The https URL that the agent is known by, below which its keys are published.
        public let agent: String

        public init(key: String, passphrase: ValueSource?, agent: String) {
            self.key = key
            self.passphrase = passphrase
            self.agent = agent
        }
    }

    /// The schemes by which requests are signed.
    public enum Scheme: Sendable, Hashable, CaseIterable {
        /// AWS Signature Version 4.
        case aws
        /// OAuth 1.0a (RFC 5849).
        case oauth1
        /// HTTP Message Signatures (RFC 9421).
        case message

        /// The name in the log and the metrics.
        public var label: StaticString {
            switch self {
            case .aws: "aws"
            case .oauth1: "oauth1"
            case .message: "message-signature"
            }
        }
    }
}
