import Bytes

/// One way to answer challenges. The challenge loop knows schemes by this interface only.
public protocol AuthenticationScheme: Sendable {
    var method: AuthenticationMethod { get }

    /// How well the scheme protects the credential in this challenge; nil when it cannot answer it. Values are
    /// comparable over all schemes: see `Strength`.
    func strength(of challenge: HeaderChallenge) -> Int?

    /// What answers this challenge, and further requests to its space.
    ///
    /// - Parameter target: the request target that was challenged, from which some schemes learn the space's extent.
    func authenticator(
        for challenge: HeaderChallenge, in space: ProtectionSpace, at target: Span<UInt8>, with credential: Credential
    ) throws(AuthenticationError) -> any Authenticator
}
