/// With whom, under which terms and by which rules a TLS session was made. No other connection resumes it.
struct SessionKey: Hashable, Sendable {
    let host: String
    let port: UInt16
    let terms: ConnectionTerms
    /// `Policy.number`: other rules could trust otherwise.
    let policy: Int
}
