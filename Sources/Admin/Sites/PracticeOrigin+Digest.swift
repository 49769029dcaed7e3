import Authentication
import Bytes
import Crypto

extension PracticeOrigin {
    /// The server's side of Digest (RFC 7616) for one protection space, with the practice credential: one algorithm,
    /// `qop=auth`, no `userhash`. It verifies answers with the code that verifies the proxy's own clients. No I/O;
    /// times are arguments.
    struct Digest {
        enum Verdict: Equatable {
            /// The value of `Authentication-Info` is `info`, by which the server proves that it knows the password
            /// (section 3.5).
            case accepted(info: String)
            /// The user knows the password, but a new nonce is needed.
            case stale
            case refused
            /// The credentials are not for this request, or cannot be verified: 400 by section 3.4.6.
            case malformed(String)
        }

        private let space: PracticeOrigin.Space
        private let algorithm: DigestAlgorithm
        private let key: MessageDigest.Value
        private let nonces: DigestNonces

        init(_ space: PracticeOrigin.Space, algorithm: DigestAlgorithm, nonceLifetime: Milliseconds) throws(CryptoError)
        {
            self.space = space
            self.algorithm = algorithm
            key = DigestKey.make(
                algorithm, user: PracticeCredential.user, realm: "\(space.traits.realm)".utf8Span.span,
                password: Secret(PracticeCredential.password))
            nonces = try DigestNonces(key: nil, lifetime: nonceLifetime)
        }

        /// Makes a challenge with a new nonce.
        /// - Parameter now: a time after 0, on any clock that is never set back.
        /// - Throws: if the system gives no random bytes.
        func challenge(stale: Bool = false, at now: WallTime) throws(CryptoError) -> String {
            let (path, realm, _) = space.traits
            return
                "Digest realm=\"\(realm)\", domain=\"\(path)\", qop=\"auth\", algorithm=\(algorithm == .md5 ? "MD5" : "SHA-256")"
                + ", nonce=\"\(try nonces.make(at: now))\"" + (stale ? ", stale=true" : "")
        }

        /// Verifies the credentials of a request. Valid ones use up their count, with any result of the request.
        /// - Parameters:
        ///   - field: the value of `Authorization`.
        ///   - target: the request target, unchanged.
        ///   - now: the time on the clock of `challenge`.
        func verify(_ field: [UInt8], method: StaticString, target: [UInt8], at now: WallTime) -> Verdict {
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
            // The answer was made for another space's challenge and sent preemptively.
            guard realm.readable.equals(space.traits.realm), digest.algorithm == algorithm else { return .refused }
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
}
