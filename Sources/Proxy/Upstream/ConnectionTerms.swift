import Rules

/// What is settled about a connection to an origin before it is made. A kept connection serves only requests that would
/// have made it under the same terms.
struct ConnectionTerms: Equatable {
    /// The client, where rules about the connection's trust or identity speak of clients; else nil, and all share.
    var client: ClientIdentity?

    /// What a connection without TLS is made under.
    static let plain = ConnectionTerms()
}
