import Bytes

/// With whom, under which terms and by which rules a TLS session was made. No other connection resumes it.
struct SessionKey: Hashable, Sendable {
    public let host: ExactText
    /// A parent and an origin may be one server, whose trust other rules decide.
    public let isProxy: Bool
    public let port: UInt16
    public let terms: ConnectionTerms
    /// `Policy.number`: other rules could trust otherwise.
    public let policy: Int
}
