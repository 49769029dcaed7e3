import Bytes
import Crypto
import Model

/// Basic (RFC 7617). The credential is sent in UTF-8, even if the server names no charset: the RFC defines no other,
/// and browsers send no other. A SOCKS server gets user and password unencoded (RFC 1929).
public struct BasicScheme: AuthenticationScheme {
    public let method = AuthenticationMethod.basic

    public init() {}

    public func strength(of challenge: HeaderChallenge) -> Int? {
        challenge.scheme == "basic" && challenge.token68 == nil || challenge == .socksPassword ? 0 : nil
    }

    public func authenticator(
        for challenge: HeaderChallenge, in space: ProtectionSpace, at target: Span<UInt8>, with credential: Credential
    ) throws(AuthenticationError) -> any Authenticator {
        guard let user = credential.user, let password = credential.password else { throw unsuitable(credential) }
        let name = credential.version.name
        var value =
            challenge == .socksPassword
            ? try Self.message(user, password, of: name) : try Self.fieldValue(user, password, of: name)
        return BasicAuthenticator(
            value: Secret(wiping: &value), challenge: challenge,
            extent: space.isProxy ? .origin : .directory(of: target))
    }

    /// - Parameter name: the credential's name, for errors.
    private static func fieldValue(
        _ user: String, _ password: Secret, of name: String
    ) throws(AuthenticationError) -> [UInt8] {
        var text: [UInt8] = []
        // Reserved at once, since a growing array leaves copies behind.
        text.reserveCapacity(user.utf8.count + 1 + password.count)
        text += user.utf8
        text.append(.colon)
        text.append(password)
        defer { _ = Secret(wiping: &text) }
        guard !text.contains(where: { $0 < .space || $0 == .delete }) else {
            throw .controlCharacter(credential: name)
        }
        guard !user.utf8.contains(.colon) else { throw .userContainsColon(credential: name) }
        var value: [UInt8] = []
        value.reserveCapacity(6 + Base64.count(encoding: text.count))
        value += "Basic ".utf8
        Base64.append(text, to: &value)
        return value
    }

    /// The message of RFC 1929 section 2, for any user and password that are short enough.
    ///
    /// - Parameter name: the credential's name, for an error.
    private static func message(
        _ user: String, _ password: Secret, of name: String
    ) throws(AuthenticationError) -> [UInt8] {
        let count = user.utf8.count
        guard count > 0, password.count > 0 else { throw .empty(credential: name) }
        guard count <= 255, password.count <= 255 else { throw .oversized(credential: name) }
        var value: [UInt8] = []
        value.reserveCapacity(3 + count + password.count)
        value += [1, UInt8(truncatingIfNeeded: count)]
        value += user.utf8
        value.append(UInt8(truncatingIfNeeded: password.count))
        value.append(password)
        return value
    }
}

extension HeaderChallenge {
    /// The challenge of a SOCKS server that requires a user and a password (RFC 1928 section 3). No header field can
    /// contain it, since its name is not a token.
    public static let socksPassword = HeaderChallenge(scheme: "username/password")
}

/// The constant value that answers a Basic space, or a SOCKS server.
private final class BasicAuthenticator: RequestAuthenticator {
    let extent: Extent
    private let value: Secret
    private let scheme: String
    private let realm: [UInt8]?

    init(value: Secret, challenge: HeaderChallenge, extent: Extent) {
        self.value = value
        scheme = challenge.scheme
        realm = challenge["realm"]
        self.extent = extent
    }

    func answers(_ challenge: HeaderChallenge) -> Bool {
        challenge.scheme == scheme && challenge["realm"] == realm
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
}
