import Authentication
import Bytes
import Crypto

/// The server's side of Digest (RFC 7616) for one protection space, with the practice credential: one algorithm,
/// `qop=auth`, no `userhash`. No I/O; time comes in as an argument.
struct PracticeDigest {
    enum Verdict: Equatable {
        /// `info` is the value of `Authentication-Info`, with which the server proves itself (section 3.5).
        case accepted(info: String)
        /// The user knows the password, but a new nonce is needed.
        case stale
        case refused
        /// Not the credentials of this request, or not such as could be verified: 400, says section 3.4.6.
        case malformed(String)
    }

    private let space: PracticeSpace
    private let algorithm: DigestAlgorithm
    private let algorithmName: StaticString
    private let opaque: String
    private var nonces: PracticeNonces

    /// - Parameter nonceLifetime: milliseconds.
    init(_ space: PracticeSpace, algorithm: DigestAlgorithm, nonceLifetime: UInt64) throws(CryptoError) {
        self.space = space
        self.algorithm = algorithm
        algorithmName =
            switch algorithm {
            case .md5: "MD5"
            case .sha256: "SHA-256"
            case .sha512t256: "SHA-512-256"
            }
        opaque = Hex.encode(try RandomBytes.make(16))
        nonces = PracticeNonces(lifetime: nonceLifetime, code: try .withRandomKey())
    }

    /// A challenge with a nonce of its own.
    mutating func challenge(stale: Bool = false, now: UInt64) -> String {
        "Digest realm=\"\(space.realm)\", domain=\"\(space.path)\", qop=\"auth\", algorithm=\(algorithmName)"
            + ", nonce=\"\(nonces.make(now: now))\", opaque=\"\(opaque)\"" + (stale ? ", stale=true" : "")
    }

    /// Verifies credentials sent with a request. Right ones use up their count, whatever comes of the request.
    /// - Parameters:
    ///   - target: the request target as it was sent.
    ///   - now: on the clock of `challenge`.
    mutating func verify(
        _ header: HeaderChallenge, method: StaticString, target: [UInt8], now: UInt64
    ) -> Verdict {
        guard header.scheme == "digest" else { return .refused }
        let credentials: DigestCredentials
        do {
            credentials = try DigestCredentials(header)
        } catch { return .malformed(error.description) }
        // An answer to another space's challenge, sent unasked.
        guard credentials.realm.span.equals(space.realm),
            credentials.algorithm == algorithmName.description.lowercased()
        else { return .refused }
        guard credentials.uri == target else {
            return .malformed("the uri in the Digest credentials is not the request target")
        }
        let key = key
        let expected = response(to: credentials, key: key, method: method)
        let isUser = ConstantTime.equal(credentials.user.span, PracticeCredential.user.utf8Span.span)
        let isProof = ConstantTime.equal(credentials.response.span, expected.array.span)
        guard isUser, isProof else { return .refused }
        guard credentials.opaque.span.equals(opaque.utf8Span.span),
            nonces.use(credentials.nonce, count: credentials.count, now: now)
        else { return .stale }
        return .accepted(info: info(credentials, proof: response(to: credentials, key: key, method: "")))
    }

    /// The digest of A1 (section 3.4.2).
    private var key: DigestValue {
        var digest = MessageDigest(algorithm)
        digest.update(utf8: PracticeCredential.user)
        digest.update(":")
        digest.update(space.realm)
        digest.update(":")
        digest.update(utf8: PracticeCredential.password)
        return digest.finish()
    }

    /// Section 3.4.1. An empty `method` makes what the server proves itself with.
    private func response(
        to credentials: DigestCredentials, key: DigestValue, method: StaticString
    ) -> DigestValue {
        var request = MessageDigest(algorithm)
        request.update(method)
        request.update(":")
        request.update(credentials.uri)
        var digest = MessageDigest(algorithm)
        key.withHexadecimal { digest.update($0) }
        for part in [credentials.nonce, credentials.countText, credentials.clientNonce] {
            digest.update(":")
            digest.update(part)
        }
        digest.update(":auth:")
        request.finish().withHexadecimal { digest.update($0) }
        return digest.finish()
    }

    private func info(_ credentials: DigestCredentials, proof: DigestValue) -> String {
        let clientNonce = credentials.clientNonce.flatMap { byte in
            byte == .quote || byte == .backslash ? [.backslash, byte] : [byte]
        }
        return "rspauth=\"\(proof.withHexadecimal { $0.text })\", cnonce=\"\(clientNonce.span.text)\""
            + ", nc=\(credentials.countText.span.text), qop=auth"
    }
}
