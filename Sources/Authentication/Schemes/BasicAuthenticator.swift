import Bytes
import Crypto

/// The one field value that answers a Basic space.
final class BasicAuthenticator: RequestAuthenticator {
    let extent: Extent
    private let value: Secret
    private let realm: [UInt8]?

    init(value: Secret, realm: [UInt8]?, extent: Extent) {
        self.value = value
        self.realm = realm
        self.extent = extent
    }

    var bodyDigest: DigestAlgorithm? { nil }

    func answers(_ challenge: HeaderChallenge) -> Bool {
        challenge.scheme == "basic" && challenge["realm"] == realm
    }

    func authorize(
        method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, into value: ByteBuffer
    ) throws(AuthenticationError) -> AuthorizationTicket {
        self.value.withBytes { bytes in value.append(bytes) }
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
