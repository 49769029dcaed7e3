/// With whom, under which terms and by which rules a TLS session was made. No other connection resumes it.
struct SessionKey: Hashable, Sendable {
    let host: String
    /// A parent and an origin may be one server, whose trust other rules decide.
    let isProxy: Bool
    let port: UInt16
    let terms: ConnectionTerms
    /// `Policy.number`: other rules could trust otherwise.
    let policy: Int
}
