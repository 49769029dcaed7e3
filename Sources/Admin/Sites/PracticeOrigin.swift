import Authentication
import Bytes
import Crypto
import HTTP

/// An origin that asks for credentials, so that a new user sees an answered challenge in the first minute. The
/// challenges and their verification are real; they protect one line of text.
struct PracticeOrigin {
    private let digest: Digest
    private let digestSHA256: Digest

    /// - Parameter nonceLifetime: short by default, so that a user who practises for a minute sees `stale=true` too.
    init(nonceLifetime: Milliseconds = .minutes(1)) throws(CryptoError) {
        digest = try Digest(.digest, algorithm: .md5, nonceLifetime: nonceLifetime)
        digestSHA256 = try Digest(.digestSHA256, algorithm: .sha256, nonceLifetime: nonceLifetime)
    }

    /// - Parameter now: a time after 0, on any clock that is never set back.
    /// - Throws: if the system gives no random bytes for a nonce.
    func response(
        to request: AdminRequest, in space: Space, at now: WallTime
    ) throws(CryptoError) -> AdminResponse {
        guard let field = request.authorization.first else { return try challenge(.missing, in: space, at: now) }
        guard request.authorization.count == 1, let credentials = Self.credentials(field) else {
            return .text(.badRequest, "the Authorization field is malformed")
        }
        guard let digest = digest(of: space) else {
            return try Self.provesBasic(credentials)
                ? welcome(in: space) : challenge(.refused, in: space, at: now)
        }
        switch digest.verify(field, method: request.method.name ?? "", target: request.target, at: now) {
        case .accepted(let info): return welcome(in: space, [.init(name: "Authentication-Info", value: info)])
        case .stale: return try challenge(.stale, in: space, at: now)
        case .refused: return try challenge(.refused, in: space, at: now)
        case .malformed(let reason): return .text(.badRequest, reason)
        }
    }

    /// The Digest of a space; nil for the space with Basic.
    private func digest(of space: Space) -> Digest? {
        switch space {
        case .basic: nil
        case .digest: digest
        case .digestSHA256: digestSHA256
        }
    }

    /// Credentials have the syntax of a challenge (RFC 9110 sections 11.3 and 11.4), but there is always exactly one.
    private static func credentials(_ field: [UInt8]) -> HeaderChallenge? {
        var parser = ChallengeParser()
        parser.parse(field.span)
        return parser.refusedCount == 0 && parser.challenges.count == 1 ? parser.challenges.first : nil
    }

    /// Whether these are the practice credential, by Basic (RFC 7617).
    private static func provesBasic(_ credentials: HeaderChallenge) -> Bool {
        guard credentials.scheme == "basic", let token = credentials.token68, let sent = Base64.decode(token) else {
            return false
        }
        let expected = Array("\(PracticeCredential.user):\(PracticeCredential.password)".utf8)
        return ConstantTime.equal(sent.span, expected.span)
    }

    private func welcome(in space: Space, _ fields: [AdminResponse.Field] = []) -> AdminResponse {
        .text(.ok, "welcome, \(PracticeCredential.user): \(space.traits.schemeName) let you in", fields)
    }

    private enum Cause { case missing, refused, stale }

    private func challenge(
        _ cause: Cause, in space: Space, at now: WallTime
    ) throws(CryptoError) -> AdminResponse {
        let value =
            try digest(of: space)?.challenge(stale: cause == .stale, at: now)
            ?? "Basic realm=\"\(space.traits.realm)\", charset=\"UTF-8\""
        let reason =
            switch cause {
            case .missing:
                "this page asks for \(space.traits.schemeName) credentials; ask for it through the proxy, and it opens"
            case .refused: "these are not the \(space.traits.schemeName) credentials that this page asks for"
            case .stale: "the credentials are right, but the nonce is used up; the new one is good"
            }
        return .text(.unauthorized, reason, [.init(name: "WWW-Authenticate", value: value)])
    }

    /// A protection space of the practice origin: a path and everything below it.
    enum Space: CaseIterable {
        case basic
        case digest
        case digestSHA256

        /// The path, the realm, which distinguishes the spaces of an origin, and the name of the scheme, for people.
        var traits: (path: StaticString, realm: StaticString, schemeName: StaticString) {
            switch self {
            case .basic: ("/practice/basic", "practice basic", "Basic")
            case .digest: ("/practice/digest", "practice digest", "Digest (MD5)")
            case .digestSHA256: ("/practice/digest-sha256", "practice digest-sha256", "Digest (SHA-256)")
            }
        }
    }
}

extension Span<UInt8> {
    /// Whether this path is the other one, or below it.
    func isPath(below root: StaticString) -> Bool {
        let length = root.utf8CodeUnitCount
        guard count >= length, extracting(first: length).equals(root) else { return false }
        return count == length || self[length] == .slash
    }
}

/// The credential for the practice origin. It is public on purpose: it protects nothing, and proxy.conf.example
/// contains it.
enum PracticeCredential {
    static let user = "practice"
    static let password = "practice makes perfect"
}
