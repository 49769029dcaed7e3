/// A challenge of a response that a scheme here can answer, and the space it is for.
public struct Offer: Sendable {
    public let space: ProtectionSpace
    public let challenge: HeaderChallenge
    public let strength: Int

    public init(space: ProtectionSpace, challenge: HeaderChallenge, strength: Int) {
        self.space = space
        self.challenge = challenge
        self.strength = strength
    }
}
