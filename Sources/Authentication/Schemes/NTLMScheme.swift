import Bytes
import Crypto

/// NTLM over HTTP ([MS-NTHT], [MS-NLMP]): NTLMv2 only, in Unicode, with integrity code, channel bindings and the name of
/// the service. It logs a connection in, not a request.
public struct NTLMScheme: AuthenticationScheme {
    public let method = AuthenticationMethod.ntlm
    private let makeChallenge: @Sendable () throws(CryptoError) -> [UInt8]

    public init() {
        makeChallenge = { () throws(CryptoError) in try RandomBytes.make(8) }
    }

    /// With a client's challenge that is known, for published examples.
    init(clientChallenge: @escaping @Sendable () throws(CryptoError) -> [UInt8]) { makeChallenge = clientChallenge }

    public func strength(of challenge: HeaderChallenge) -> Int? {
        challenge.scheme == "ntlm" ? Strength.ntlm : nil
    }

    public func authenticator(
        for challenge: HeaderChallenge, in space: ProtectionSpace, at target: Span<UInt8>, with credential: Credential
    ) throws(AuthenticationError) -> any Authenticator {
        guard let password = credential.password, let account = credential.user.flatMap({ NTLMAccount($0) }) else {
            throw .unsuitableCredential(credential: credential.version.name, method: method)
        }
        do throws(CryptoError) {
            return try NTLMAuthenticator(
                account: account, password: password, target: "HTTP/\(space.host)", clientChallenge: makeChallenge)
        } catch { throw .unavailable(method: method, error) }
    }
}
