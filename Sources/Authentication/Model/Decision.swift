/// The delegate's answer to a challenge.
public struct Decision: Sendable {
    public let disposition: Disposition
    /// How many refusals of the delegate's credentials one request may cost; at least 1.
    public let attempts: Int
    /// The rule's name and line, or "no rule": fit for the client to read.
    public let reason: String

    public init(_ disposition: Disposition, attempts: Int = 1, reason: String) {
        self.disposition = disposition
        self.attempts = max(1, attempts)
        self.reason = reason
    }
}
