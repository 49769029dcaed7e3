import Model

/// A challenge of a response, and the space it is for.
public struct Offer: Sendable {
    public let space: ProtectionSpace
    public let challenge: HeaderChallenge
    public let strength: Int
    /// As in `AuthenticationChallenge`.
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
