import Bytes

/// The server, the terms and the policy of a TLS session. Only a connection with an equal key resumes it.
struct SessionKey: Hashable, Sendable {
    let host: ExactText
    /// Whether the server is a parent. A parent and an origin may be one server, but different rules decide about their
    /// trust.
    let isProxy: Bool
    let port: UInt16
    let terms: ConnectionTerms
    /// `Policy.number`, since other rules could decide differently about trust.
    let policy: Int
}
