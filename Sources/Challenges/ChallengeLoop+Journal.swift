import Authentication

/// What the journal asks of a request that was not answered.
extension ChallengeLoop {
    /// The spaces that refused an answer, and what they refused, the latest last.
    public var refusals: [(space: ProtectionSpace, version: CredentialVersion)] { task.refusals }

    /// Has the mask hide the answer that the request went out with.
    public func hideAnswer(in mask: inout EchoMask) { preparation.performer.hideAnswer(in: &mask) }
}
