import Bytes
import Crypto

/// Answers the challenges of one space with one credential. Shared by all threads; every call is atomic.
public protocol Authenticator: AnyObject, Sendable {
    /// The scope of an answer, and so its maker.
    var binding: AuthenticatorBinding { get }

    /// Which targets of the origin may be answered before they challenge.
    var extent: Extent { get }

    /// Whether the challenge is one of those it answers: of its space, and in Digest of its algorithm.
    func answers(_ challenge: HeaderChallenge) -> Bool

    /// The authenticator for the answer to this very challenge: another one where the challenge has a nonce that is to be
    /// used by that answer alone. Nil where the challenge is none of those it answers.
    func authenticator(for challenge: HeaderChallenge) -> (any Authenticator)?
}

extension Authenticator {
    public func authenticator(for challenge: HeaderChallenge) -> (any Authenticator)? {
        answers(challenge) ? self : nil
    }
}

/// The scope of an answer.
public enum AuthenticatorBinding: Sendable {
    /// To the request that it is sent with.
    case request(any RequestAuthenticator)
    /// To the connection, which must serve nobody else and stay open between the legs.
    case connection(any ConnectionAuthenticator)
    /// To a session at the server, which its requests show by cookies.
    case session(SessionAuthenticator)
}

/// Answers request by request.
public protocol RequestAuthenticator: Authenticator {
    /// Whether it answers with MD5 (RFC 7616 section 5.3: no longer secure).
    var usesMD5: Bool { get }

    /// The digest of the whole body that `authorize` needs next; nil when it needs none.
    var bodyDigest: DigestAlgorithm? { get }

    /// How many requests may still be sent with its answer.
    var uses: AnswerUses { get }

    /// Whether any number of requests may be sent with its answer, and without a digest of their bodies.
    var isRepeatable: Bool { get }

    /// Appends the value of `Authorization` or `Proxy-Authorization`, without allocating.
    ///
    /// - Parameters:
    ///   - target: the request target as this server sees it, byte for byte.
    ///   - bodyDigest: the digest asked for above; of no bytes, when there is no body.
    func authorize(
        method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, into value: ByteBuffer
    ) throws(AuthenticationError) -> AuthorizationTicket

    /// Where the answer stands, if not in the field of answers; `authorize` appends nothing then.
    var placement: RequestPlacement? { get }

    /// Judges the challenges that came back on an answer, and takes over what they bring.
    func refused(by challenges: [HeaderChallenge], ticket: AuthorizationTicket) -> RepeatedChallenge

    /// Judges a response that is no challenge.
    ///
    /// - Parameters:
    ///   - info: the value of `Authentication-Info` or `Proxy-Authentication-Info`.
    ///   - bodyDigest: of the response's content, once it was asked for by `needsBody`.
    func accepted(
        _ info: Span<UInt8>?, ticket: AuthorizationTicket, target: Span<UInt8>, bodyDigest: [UInt8]?
    ) -> Acceptance
}

extension RequestAuthenticator {
    public var binding: AuthenticatorBinding { .request(self) }
    public var placement: RequestPlacement? { nil }
    public var usesMD5: Bool { false }
    public var uses: AnswerUses { .many }
    public var isRepeatable: Bool { bodyDigest == nil }
}

/// Which answer a request carried, so that its outcome is judged against that and not against a newer one.
public struct AuthorizationTicket: Sendable, Hashable {
    /// The challenge that was answered, counted by its authenticator.
    let generation: UInt32
    /// How many answers to that challenge there were, this one included.
    let count: UInt32

    init(generation: UInt32 = 0, count: UInt32 = 0) {
        self.generation = generation
        self.count = count
    }
}

/// The meaning of a response that is no challenge.
public enum Acceptance: Sendable, Hashable {
    /// The server proved that it knows the credential too.
    case verified
    /// Its proof covers the response's content, whose digest is needed to check it (RFC 7616 section 3.5, `auth-int`).
    case needsBody(DigestAlgorithm)
    /// It offered no proof, or none that can be checked here.
    case unverified
    /// It answered without having seen the credential: nothing is said about it.
    case ignored
    /// Its proof is wrong: this is not the server that the credential was made for.
    case mismatch
}
