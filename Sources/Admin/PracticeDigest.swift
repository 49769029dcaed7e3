import Authentication
import Bytes
import Crypto

/// The server's side of Digest (RFC 7616) for one protection space, with the practice credential: one algorithm,
/// `qop=auth`, no `userhash`. Reads and verifies answers with the code that verifies the proxy's own clients. No I/O; time
/// comes in as an argument.
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
    private let key: DigestValue
    private let nonces: DigestNonces

    /// - Parameter nonceLifetime: milliseconds.
    init(_ space: PracticeSpace, algorithm: DigestAlgorithm, nonceLifetime: Int) throws(CryptoError) {
        self.space = space
        self.algorithm = algorithm
        key = DigestKey.make(
            algorithm, user: PracticeCredential.user, realm: "\(space.realm)",
            password: Secret(PracticeCredential.password))
        nonces = try DigestNonces(key: nil, lifetime: nonceLifetime)
    }

    /// A challenge with a nonce of its own.
    /// - Parameter now: milliseconds, above 0, on any clock that never goes back.
    /// - Throws: when the system gives no random bytes.
    func challenge(stale: Bool = false, at now: Int) throws(CryptoError) -> String {
        "Digest realm=\"\(space.realm)\", domain=\"\(space.path)\", qop=\"auth\", algorithm=\(algorithm == .md5 ? "MD5" : "SHA-256")"
            + ", nonce=\"\(try nonces.make(at: now))\"" + (stale ? ", stale=true" : "")
    }

    /// Verifies credentials sent with a request. Right ones use up their count, whatever comes of the request.
    /// - Parameters:
    ///   - field: the value of `Authorization`.
    ///   - target: the request target as it was sent.
    ///   - now: on the clock of `challenge`.
    func verify(_ field: [UInt8], method: StaticString, target: [UInt8], at now: Int) -> Verdict {
        let scheme = "digest".utf8.count
        guard field.count > scheme, field[scheme].isBlank,
            field.span.extracting(first: scheme).equalsIgnoringCase("digest")
        else { return .refused }
        let value = field.span.extracting(scheme..<field.count)
        let digest: DigestAuthorization
        let (user, realm, uri) = (ByteBuffer(capacity: 64), ByteBuffer(capacity: 64), ByteBuffer(capacity: 256))
        do throws(DigestAuthorization.Defect) {
            digest = try DigestAuthorization(value)
            try digest.appendUser(of: value, to: user)
        } catch { return .malformed("\(error)") }
        digest.appendRealm(of: value, to: realm)
        digest.appendTarget(of: value, to: uri)
        // An answer to another space's challenge, sent unasked.
        guard realm.readable.equals(space.realm), digest.algorithm == algorithm else { return .refused }
        guard uri.readable.equals(target.span) else {
            return .malformed("the uri in the Digest credentials is not the request target")
        }
        let isUser = ConstantTime.equal(user.readable, PracticeCredential.user.utf8Span.span)
        let method = method.description
        let isProof = digest.proves(key, value: value, method: method.utf8Span.span, target: target.span)
        guard isUser, isProof else { return .refused }
        guard nonces.use(value.extracting(digest.nonce), count: digest.count, at: now) else { return .stale }
        let info = ByteBuffer(capacity: 256)
        digest.appendProof(key, value: value, target: target.span, to: info)
        return .accepted(info: info.readable.text)
    }
}
