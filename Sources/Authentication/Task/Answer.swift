/// A challenge answered with a credential.
public final class Answer: Sendable {
    public let space: ProtectionSpace
    /// Nil when the answer was sent before it was asked for.
    public let challenge: HeaderChallenge?
    public let credential: Credential

    public init(space: ProtectionSpace, challenge: HeaderChallenge?, credential: Credential) {
        self.space = space
        self.challenge = challenge
        self.credential = credential
    }
}
