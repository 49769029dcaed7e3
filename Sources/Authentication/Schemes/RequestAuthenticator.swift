import Bytes
import Crypto

/// Answers request by request.
public protocol RequestAuthenticator: Authenticator {
    /// The digest of the whole body that `authorize` needs next; nil when it needs none.
    var bodyDigest: DigestAlgorithm? { get }

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

extension RequestAuthenticator {
    public var binding: AuthenticatorBinding { .request(self) }
}
