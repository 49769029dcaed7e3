import Bytes
import Crypto

/// Digest (RFC 7616), and its ancestor without `qop` (RFC 2069), which devices still speak.
public struct DigestScheme: AuthenticationScheme {
    public let method = AuthenticationMethod.digest
    private let makeClientNonce: @Sendable () throws(CryptoError) -> [UInt8]

    public init() {
        makeClientNonce = { () throws(CryptoError) in Array(Hex.encode(try RandomBytes.make(16)).utf8) }
    }

    /// With client nonces that are known beforehand, as published examples need them.
    init(clientNonce: @escaping @Sendable () throws(CryptoError) -> [UInt8]) {
        makeClientNonce = clientNonce
    }

    public func strength(of challenge: HeaderChallenge) -> Int? {
        DigestChallenge(challenge)?.strength
    }

    public func authenticator(
        for challenge: HeaderChallenge, in space: ProtectionSpace, at target: Span<UInt8>, with credential: Credential
    ) throws(AuthenticationError) -> any Authenticator {
        guard let digest = DigestChallenge(challenge) else { throw .unusableChallenge(method: method) }
        guard let user = credential.user, let password = credential.password else {
            throw .unsuitableCredential(credential: credential.version.name, method: method)
        }
        guard !user.utf8.contains(where: { $0 < .space || $0 == .delete }) else {
            throw .controlCharacter(credential: credential.version.name)
        }
        return try DigestAuthenticator(
            digest, user: user, password: password,
            extent: .domain(challenge["domain"], of: space, challengedAt: target), clientNonce: makeClientNonce)
    }
}
