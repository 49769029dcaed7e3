import Bytes
import Crypto
import Model

/// Bearer tokens (RFC 6750), in the `Authorization` field.
public struct BearerScheme: AuthenticationScheme {
    public let method = AuthenticationMethod.bearer

    public init() {}

    public func strength(of challenge: HeaderChallenge) -> Int? {
        challenge.scheme == "bearer" ? 0 : nil
    }

    public func authenticator(
        for challenge: HeaderChallenge, in space: ProtectionSpace, at target: Span<UInt8>, with credential: Credential
    ) throws(AuthenticationError) -> any Authenticator {
        guard let token = credential.token, token.count > 0 else { throw unsuitable(credential) }
        // Section 2.1 allows fewer characters. Servers have tokens with other ones, but none of these can end a field.
        guard token.withBytes({ bytes in bytes.indices.allSatisfy { bytes[$0] > .space && bytes[$0] < .delete } })
        else { throw .controlCharacter(credential: credential.version.name) }
        return BearerAuthenticator(token: token, scopes: credential.registryScopes)
    }
}

/// Answers for a resource server with one token.
private final class BearerAuthenticator: RequestAuthenticator {
    /// A token is for a server (RFC 6750 section 5.2), not for a part of it.
    let extent = Extent.origin
    private let token: Secret
    /// The scopes that a registry's token was asked for; nil for others.
    private let scopes: RegistryScopes?

    init(token: Secret, scopes: RegistryScopes?) {
        self.token = token
        self.scopes = scopes
    }

    /// The realm is ignored: it does not identify the token, and many servers change it with the error.
    func answers(_ challenge: HeaderChallenge) -> Bool { challenge.scheme == "bearer" }

    func authorize(
        method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, into value: ByteBuffer
    ) throws(AuthenticationError) -> AuthorizationTicket {
        value.append("Bearer " as StaticString)
        token.withBytes { value.append($0) }
        return AuthorizationTicket()
    }

    func refused(by challenges: [HeaderChallenge], ticket: AuthorizationTicket) -> RepeatedChallenge {
        guard let challenge = challenges.first(where: answers) else { return .unrelated }
        guard let scopes else { return .refused }
        // A registry challenges a valid token, too, if the request needs other scopes.
        if !scopes.covers(RegistryScopes(challenge["scope"] ?? [])) { return .renewed }
        return challenge.text("error") == "insufficient_scope" ? .denied : .refused
    }
}
