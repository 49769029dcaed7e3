import Model

/// A scheme that answers challenges. The challenge loop uses schemes through this interface only.
public protocol AuthenticationScheme: Sendable {
    var method: AuthenticationMethod { get }

    /// The protection of the credential in this challenge among the scheme's own challenges, from 0 to 3; nil if the
    /// scheme cannot answer it. `ChallengeOrder` compares the schemes.
    func strength(of challenge: HeaderChallenge) -> Int?

    /// The authenticator for this challenge, and for further requests to its space.
    ///
    /// - Parameter target: the challenged request target, from which some schemes derive the space's extent.
    func authenticator(
        for challenge: HeaderChallenge, in space: ProtectionSpace, at target: Span<UInt8>, with credential: Credential
    ) throws(AuthenticationError) -> any Authenticator
}

extension AuthenticationScheme {
    /// The error if the scheme cannot use this kind of credential.
    func unsuitable(_ credential: Credential) -> AuthenticationError {
        .unsuitableCredential(credential: credential.version.name, method: method)
    }
}
