import Bytes

/// HTML forms, as a scheme: a page that a rule recognises is the challenge, the cookies that a login brings the answer.
public struct FormScheme: AuthenticationScheme {
    public let method = AuthenticationMethod.htmlForm

    public init() {}

    public func strength(of challenge: HeaderChallenge) -> Int? {
        challenge == .loginPage ? Strength.form : nil
    }

    public func authenticator(
        for challenge: HeaderChallenge, in space: ProtectionSpace, at target: Span<UInt8>, with credential: Credential
    ) throws(AuthenticationError) -> any Authenticator {
        guard credential.user != nil, credential.password != nil else {
            throw .unsuitableCredential(credential: credential.version.name, method: method)
        }
        return SessionAuthenticator()
    }
}

extension HeaderChallenge {
    /// What stands for a page that asks for a login. No field can say it: its name is no token.
    public static let loginPage = HeaderChallenge(scheme: "login page")
}
