import Bytes
import Crypto

/// Answers the challenges of one space with one credential. Shared by all threads; every call is atomic.
public protocol Authenticator: AnyObject, Sendable {
    /// The scope of an answer, with the object that makes it.
    var binding: AuthenticatorBinding { get }

    /// The targets of the origin that may be answered preemptively.
    var extent: Extent { get }

    /// Whether the authenticator can answer the challenge: it is of its space, and in Digest of its algorithm.
    func answers(_ challenge: HeaderChallenge) -> Bool

    /// The authenticator for the answer to exactly this challenge: a separate one if the challenge has a nonce for that
    /// answer alone. Nil if it cannot answer the challenge.
    func authenticator(for challenge: HeaderChallenge) -> (any Authenticator)?
}

extension Authenticator {
    public func authenticator(for challenge: HeaderChallenge) -> (any Authenticator)? {
        answers(challenge) ? self : nil
    }
}

/// The scope of an answer.
public enum AuthenticatorBinding: Sendable {
    /// The answer applies to one request.
    case request(any RequestAuthenticator)
    /// The answer applies to a connection, which must serve no other client and stay open during the login.
    case connection(any ConnectionAuthenticator)
    /// The answer applies to a session at the server, which requests prove by cookies.
    case session(SessionAuthenticator)
}

/// Answers request by request.
public protocol RequestAuthenticator: Authenticator {
    /// Whether the answer uses MD5 (RFC 7616 section 5.3: no longer secure).
    var usesMD5: Bool { get }

    /// The digest of the whole body that the next `authorize` needs; nil if none.
    var bodyDigest: DigestAlgorithm? { get }

    /// The number of requests that may still use the answer.
    var uses: AnswerUses { get }

    /// Whether any number of requests may use the answer, without a digest of their bodies.
    var isRepeatable: Bool { get }

    /// Appends the value of `Authorization` or `Proxy-Authorization`, without allocating.
    ///
    /// - Parameters:
    ///   - target: the request target as this server sees it, byte for byte.
    ///   - bodyDigest: the digest that `bodyDigest` requires; for a request without a body, the digest of no bytes.
    func authorize(
        method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, into value: ByteBuffer
    ) throws(AuthenticationError) -> AuthorizationTicket

    /// The places of the answer, if it is not in the `Authorization` field; `authorize` then appends nothing.
    var placement: RequestPlacement? { get }

    /// Judges the challenges in the response to an answer, and adopts their parameters.
    func refused(by challenges: [HeaderChallenge], ticket: AuthorizationTicket) -> RepeatedChallenge

    /// Judges a response without a challenge.
    ///
    /// - Parameters:
    ///   - info: the value of `Authentication-Info` or `Proxy-Authentication-Info`.
    ///   - bodyDigest: the digest of the response's content, if `needsBody` asked for it.
    func accepted(
        _ info: Span<UInt8>?, ticket: AuthorizationTicket, target: Span<UInt8>, bodyDigest: [UInt8]?
    ) -> Acceptance
}

extension RequestAuthenticator {
    public var binding: AuthenticatorBinding { .request(self) }
    public var placement: RequestPlacement? { nil }
    public var usesMD5: Bool { false }
    public var bodyDigest: DigestAlgorithm? { nil }
    public var uses: AnswerUses { .many }
    public var isRepeatable: Bool { bodyDigest == nil }

    public func accepted(
        _ info: Span<UInt8>?, ticket: AuthorizationTicket, target: Span<UInt8>, bodyDigest: [UInt8]?
    ) -> Acceptance {
        .unverified
    }
}

/// The answer that a request carried. Its outcome is judged by that one, and not by a later one.
public struct AuthorizationTicket: Sendable, Hashable {
    /// The challenge that was answered, counted by its authenticator.
    var generation: UInt32 = 0
    /// The number of answers to that challenge, this one included.
    var count: UInt32 = 0
}

/// The meaning of a response without a challenge.
public enum Acceptance: Sendable, Hashable {
    /// The server proved that it knows the credential too.
    case verified
    /// The server's proof covers the response's content, whose digest is needed to check it (RFC 7616 section 3.5,
    /// `auth-int`).
    case needsBody(DigestAlgorithm)
    /// The server sent no proof, or none that can be checked here.
    case unverified
    /// The server answered without checking the credential, which proves nothing.
    case ignored
    /// The server's proof is wrong: it is not the server that the credential is for.
    case mismatch
}
