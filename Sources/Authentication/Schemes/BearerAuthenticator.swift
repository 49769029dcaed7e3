import Bytes
import Crypto

/// Answers for a resource server with one token.
final class BearerAuthenticator: RequestAuthenticator {
    /// A token is for a server (RFC 6750 section 5.2), not for a part of it.
    let extent = Extent.origin
    private let token: Secret

    init(token: Secret) { self.token = token }

    var bodyDigest: DigestAlgorithm? { nil }

    /// The realm says what the token is for, not which one is asked for, and many servers change it with the error.
    func answers(_ challenge: HeaderChallenge) -> Bool { challenge.scheme == "bearer" }

    func authorize(
        method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, into value: ByteBuffer
    ) throws(AuthenticationError) -> AuthorizationTicket {
        value.append("Bearer " as StaticString)
        token.withBytes { value.append($0) }
        return AuthorizationTicket()
    }

    func refused(by challenges: [HeaderChallenge], ticket: AuthorizationTicket) -> Refusal {
        challenges.contains { answers($0) } ? .refused : .unrelated
    }

    func accepted(
        _ info: Span<UInt8>?, ticket: AuthorizationTicket, target: Span<UInt8>, bodyDigest: [UInt8]?
    ) -> Acceptance {
        .unverified
    }
}
