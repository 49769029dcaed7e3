import Model
import Rules

/// All that is settled about a connection to an origin before it is made. A kept connection, and a TLS session, serves only
/// requests that would have begun under the same terms. Immutable; a class, since each request compares some.
public final class ConnectionTerms: Sendable {
    /// How TLS is spoken, as the route says; nil: nothing is said.
    public let tls: TLSTerms?
    /// The client, where rules about the origin's trust, about certificates to show to it or about the parent's challenges
    /// speak of clients; else nil, and all clients share.
    public let client: ClientIdentity?
    /// `TLSAnswers.number`; 0 where the server gets none of them.
    public let tlsAnswers: Int
    /// The parent that passes the connection through to the origin; nil: none does.
    public let parent: Configuration.Parent.Server?

    public init(
        tls: TLSTerms? = nil, client: ClientIdentity? = nil, tlsAnswers: Int = 0,
        parent: Configuration.Parent.Server? = nil
    ) {
        self.tls = tls
        self.client = client
        self.tlsAnswers = tlsAnswers
        self.parent = parent
    }

    /// The terms of a connection without TLS.
    public static let plain = ConnectionTerms()
}

extension ConnectionTerms: Hashable {
    public static func == (left: ConnectionTerms, right: ConnectionTerms) -> Bool {
        left === right
            || left.tlsAnswers == right.tlsAnswers && left.tls == right.tls && left.client == right.client
                && left.parent == right.parent
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(tls)
        hasher.combine(client)
        hasher.combine(tlsAnswers)
        hasher.combine(parent)
    }
}
