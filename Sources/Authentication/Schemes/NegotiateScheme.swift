import Bytes

/// Negotiate (RFC 4559): SPNEGO over HTTP, with Kerberos and nothing else in it. It logs a connection in; many servers
/// take the login for one request only, though.
public struct NegotiateScheme: AuthenticationScheme {
    public let method = AuthenticationMethod.negotiate

    public init() {}

    public func strength(of challenge: HeaderChallenge) -> Int? {
        challenge.scheme == "negotiate" ? Strength.negotiate : nil
    }

    public func authenticator(
        for challenge: HeaderChallenge, in space: ProtectionSpace, at target: Span<UInt8>, with credential: Credential
    ) throws(AuthenticationError) -> any Authenticator {
        guard let principal = credential.principal else {
            throw .unsuitableCredential(credential: credential.version.name, method: method)
        }
        return NegotiateAuthenticator(principal, of: credential.version.name, at: space.host)
    }
}
