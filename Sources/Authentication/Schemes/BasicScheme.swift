import Bytes
import Crypto
import Model

/// Basic (RFC 7617). The credential is sent as UTF-8 whether the server names a charset or not: nothing else is named
/// by the RFC, and browsers send nothing else.
public struct BasicScheme: AuthenticationScheme {
    public let method = AuthenticationMethod.basic

    public init() {}

    public func strength(of challenge: HeaderChallenge) -> Int? {
        challenge.scheme == "basic" && challenge.token68 == nil ? Strength.basic : nil
    }

    public func authenticator(
        for challenge: HeaderChallenge, in space: ProtectionSpace, at target: Span<UInt8>, with credential: Credential
    ) throws(AuthenticationError) -> any Authenticator {
        guard let user = credential.user, let password = credential.password else {
            throw .unsuitableCredential(credential: credential.version.name, method: method)
        }
        var text: [UInt8] = []
        // An array that grows leaves what it held where it stood.
        text.reserveCapacity(user.utf8.count + 1 + password.count)
        text += user.utf8
        text.append(.colon)
        password.withBytes { bytes in
            for offset in 0..<bytes.count { text.append(bytes[offset]) }
        }
        defer { _ = Secret(wiping: &text) }
        guard !text.contains(where: { $0 < .space || $0 == .delete }) else {
            throw .controlCharacter(credential: credential.version.name)
        }
        guard !user.utf8.contains(.colon) else { throw .userContainsColon(credential: credential.version.name) }
        var value: [UInt8] = []
        value.reserveCapacity(6 + Base64.count(encoding: text.count))
        value += "Basic ".utf8
        Base64.append(text, to: &value)
        return BasicAuthenticator(
            value: Secret(wiping: &value), realm: challenge["realm"],
            extent: space.isProxy ? .origin : .directory(of: target))
    }
}

/// The one field value that answers a Basic space.
private final class BasicAuthenticator: RequestAuthenticator {
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

    func refused(by challenges: [HeaderChallenge], ticket: AuthorizationTicket) -> RepeatedChallenge {
        challenges.contains { answers($0) } ? .refused : .unrelated
    }

    func accepted(
        _ info: Span<UInt8>?, ticket: AuthorizationTicket, target: Span<UInt8>, bodyDigest: [UInt8]?
    ) -> Acceptance {
        .unverified
    }
}
