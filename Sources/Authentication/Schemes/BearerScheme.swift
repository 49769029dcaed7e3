import Bytes
import Crypto

/// Bearer tokens (RFC 6750), in the `Authorization` field.
public struct BearerScheme: AuthenticationScheme {
    public let method = AuthenticationMethod.bearer

    public init() {}

    public func strength(of challenge: HeaderChallenge) -> Int? {
        challenge.scheme == "bearer" ? Strength.bearer : nil
    }

    public func authenticator(
        for challenge: HeaderChallenge, in space: ProtectionSpace, at target: Span<UInt8>, with credential: Credential
    ) throws(AuthenticationError) -> any Authenticator {
        guard let token = credential.token, token.count > 0 else {
            throw .unsuitableCredential(credential: credential.version.name, method: method)
        }
        // Section 2.1 allows fewer characters; servers have tokens of their own ideas, but none can end a field.
        guard token.withBytes({ bytes in bytes.indices.allSatisfy { bytes[$0] > .space && bytes[$0] < .delete } })
        else { throw .controlCharacter(credential: credential.version.name) }
        return BearerAuthenticator(token: token)
    }
}
