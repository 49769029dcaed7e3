import Bytes
import Crypto

/// Answers the challenges of one space with one credential. Shared by all threads; every call is atomic.
public protocol Authenticator: AnyObject, Sendable {
    /// What an answer belongs to.
    var binding: AuthenticatorBinding { get }

    /// Which targets of the origin may be answered before they challenge.
    var extent: Extent { get }

    /// The digest of the whole body that `authorize` needs next; nil when it needs none.
    var bodyDigest: DigestAlgorithm? { get }

    /// Whether the challenge is one of those it answers: of its space, and in Digest of its algorithm.
    func answers(_ challenge: HeaderChallenge) -> Bool

    /// Appends the value of `Authorization` or `Proxy-Authorization`, without allocating.
    ///
    /// - Parameters:
    ///   - target: the request target as this server sees it, byte for byte.
    ///   - bodyDigest: the digest asked for above; of no bytes, when there is no body.
    func authorize(
        method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, into value: ByteBuffer
    ) throws(AuthenticationError) -> AuthorizationTicket

    /// Judges the challenges that came back on an answer, and takes over what they bring.
    func refused(by challenges: [HeaderChallenge], ticket: AuthorizationTicket) -> Refusal

    /// Judges a response that is no challenge.
    ///
    /// - Parameters:
    ///   - info: the value of `Authentication-Info` or `Proxy-Authentication-Info`.
    ///   - bodyDigest: of the response's content, once it was asked for by `needsBody`.
    func accepted(
        _ info: Span<UInt8>?, ticket: AuthorizationTicket, target: Span<UInt8>, bodyDigest: [UInt8]?
    ) -> Acceptance
}
