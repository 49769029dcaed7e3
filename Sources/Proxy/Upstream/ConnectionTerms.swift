import Rules

/// What is settled about a connection to an origin before it is made. A kept connection, and a TLS session, serves only
/// requests that would have begun under the same terms.
struct ConnectionTerms: Hashable, Sendable {
    /// How TLS is spoken, as the route says; nil: nothing is said.
    var tls: TLSTerms?
    /// The client, where rules about the origin's trust or about certificates to show to it speak of clients; else nil,
    /// and all clients share.
    var client: ClientIdentity?
    /// The state of the certificates that could be shown: another number for each change. 0 where none could be.
    var identities = 0

    /// What a connection without TLS is made under.
    static let plain = ConnectionTerms()
}

extension Destination {
    /// The terms of a connection for this client.
    func terms(for client: ClientIdentity, by policy: Policy, identities: Int) -> ConnectionTerms {
        guard origin.isSecure else { return .plain }
        return ConnectionTerms(
            tls: route.tls, client: origin.dependsOnClient(by: policy.rules) ? client : nil,
            identities: origin.maySeeIdentity(by: policy.rules) ? identities : 0)
    }
}
