/// The delegate's answer to a challenge.
public struct Decision: Sendable {
    public let disposition: Disposition
    /// How many refusals of the delegate's credentials one request may cost; at least 1.
    public let attempts: Int
    /// How long what default handling answers with is kept; nil: as long as it says itself.
    public let persistence: Credential.Persistence?
    /// The rule's name and line, or "no rule"; of a cancellation, a clause that says why. Fit for the client to read.
    public let reason: String

    public init(
        _ disposition: Disposition, attempts: Int = 1, persistence: Credential.Persistence? = nil, reason: String
    ) {
        self.persistence = persistence
        self.disposition = disposition
        self.attempts = max(1, attempts)
        self.reason = reason
    }
}
