/// A challenge of a response, with its space.
public struct Offer: Sendable {
    public let space: ProtectionSpace
    public let challenge: HeaderChallenge
    public let strength: Int
    /// The accepted issuers, as in `AuthenticationChallenge`.
    public let distinguishedNames: [String]

    public init(
        space: ProtectionSpace, challenge: HeaderChallenge, strength: Int, distinguishedNames: [String] = []
    ) {
        self.distinguishedNames = distinguishedNames
        self.space = space
        self.challenge = challenge
        self.strength = strength
    }
}
