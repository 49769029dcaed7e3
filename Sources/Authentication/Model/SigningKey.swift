import Bytes
import Crypto
import Model

/// A key that signs requests, by its scheme.
public enum SigningKey: Sendable {
    case aws(AWS)
    case oauth1(OAuth1)
    case message(Message)

    public var scheme: SignatureSource.Scheme {
        switch self {
        case .aws: .aws
        case .oauth1: .oauth1
        case .message: .message
        }
    }

    /// The secrets that are part of each request, so that a server's text may repeat them.
    public var sentSecrets: [Secret] {
        switch self {
        case .aws(let key): key.sessionToken.map { [$0] } ?? []
        case .oauth1(let key): key.method == .plaintext ? key.secrets : []
        case .message: []
        }
    }

    /// Equal for equal keys with equal settings.
    var fingerprint: UInt128 {
        switch self {
        case .aws(let key):
            CredentialVersion.Fingerprint.of(
                ["key", key.region, key.service, key.accessKey, key.signsPayload ? "signed" : "unsigned"],
                secrets: [key.secretKey] + (key.sessionToken.map { [$0] } ?? []))
        case .oauth1(let key): key.fingerprint
        case .message(let key):
            CredentialVersion.Fingerprint.of(["message", key.agent, "\(key.signer.fingerprint)"], secrets: [])
        }
    }

    /// An access key of AWS, for one service in one region.
    public struct AWS: Sendable {
        public let region: String
        public let service: String
        /// The key's name, which is part of every request.
        public let accessKey: String
        let secretKey: Secret
        /// The session token of temporary keys. It is part of every request, and useless without the secret.
        let sessionToken: Secret?
        /// Whether the signature covers the content; if not, `UNSIGNED-PAYLOAD` is sent, which S3 accepts.
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

        /// Whether the service is one of S3's. Their paths are encoded once, and content may be unsigned.
        public var isS3: Bool { service == "s3" || service.hasPrefix("s3-") || service == "s3express" }
    }

    /// The credentials of a client, and perhaps those of a resource owner (RFC 5849).
    public struct OAuth1: Sendable {
        /// The client's secret, of which the method uses the one or the other.
        public enum Proof: Sendable {
            case secret(Secret)
            case key(any AssertionSigner)
        }

        public let method: SignatureSource.OAuth1Method
        let consumerKey: String
        let proof: Proof
        /// The token credentials; nil for requests of the client alone.
        let token: Token?
        let realm: String?
        public let signsPayload: Bool

        /// The token credentials (RFC 5849 section 2.3). RSA-SHA1 uses no secret of them.
        public struct Token: Sendable {
            let identifier: String
            let secret: Secret?

            public init(identifier: String, secret: Secret?) {
                self.identifier = identifier
                self.secret = secret
            }
        }

        public init(
            method: SignatureSource.OAuth1Method, consumerKey: String, proof: Proof, token: Token? = nil,
            realm: String? = nil,
            signsPayload: Bool = true
        ) {
            self.method = method
            self.consumerKey = consumerKey
            self.proof = proof
            self.token = token
            self.realm = realm
            self.signsPayload = signsPayload
        }

        fileprivate var secrets: [Secret] {
            var secrets = (token?.secret).map { [$0] } ?? []
            if case .secret(let secret) = proof { secrets.append(secret) }
            return secrets
        }

        fileprivate var fingerprint: UInt128 {
            var words = [
                "oauth1", method.rawValue, consumerKey, token?.identifier ?? "", token == nil ? "client" : "token",
                realm ?? "",
                signsPayload ? "signed" : "unsigned",
            ]
            if case .key(let signer) = proof { words.append("\(signer.fingerprint)") }
            return CredentialVersion.Fingerprint.of(words, secrets: secrets)
        }
    }

    /// The Ed25519 key of an agent (RFC 9421).
    public struct Message: Sendable {
        let signer: any AssertionSigner
        /// The thumbprint of the public key, by which servers find it.
        public let id: String
        /// The https URL that the agent is known by.
        public let agent: String

        /// - Parameters:
        ///   - signer: signs by Ed25519.
        ///   - publicKey: the 32 bytes of the public key.
        public init(_ signer: any AssertionSigner, publicKey: [UInt8], agent: String) {
            self.signer = signer
            self.agent = agent
            id = Self.thumbprint(of: publicKey)
        }

        /// The JWK thumbprint (RFC 7638) of an Ed25519 key (RFC 8037 section 2 and appendix A.3).
        static func thumbprint(of publicKey: [UInt8]) -> String {
            let key = #"{"crv":"Ed25519","kty":"OKP","x":"\#(Base64.encodeForURL(publicKey))"}"#
            return Base64.encodeForURL(MessageDigest.digest(.sha256, of: key.utf8Span.span).array)
        }
    }
}
