import Bytes

/// The server, the terms and the policy of a TLS session. Only a connection with an equal key resumes it.
struct SessionKey: Hashable, Sendable {
    public let host: ExactText
    /// Whether the server is a parent. A parent and an origin may be one server, but different rules decide about their
    /// trust.
    public let isProxy: Bool
    public let port: UInt16
    public let terms: ConnectionTerms
    /// `Policy.number`, since other rules could decide differently about trust.
    public let policy: Int
}
