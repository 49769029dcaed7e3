import Bytes
import Model
import Rules

/// All that is settled about a connection to an origin before it is made. A kept connection, or a TLS session, serves
/// only requests that would have begun under equal terms. Immutable; a class, since each request compares some.
public final class ConnectionTerms: Sendable {
    /// The route's `tls` settings; nil if it has none.
    public let tls: Configuration.TLSTerms?
    /// The client, if rules about the origin's trust, about certificates for it or about the parent's challenges depend
    /// on the client. Nil: all clients share the connection.
    public let client: ClientIdentity?
    /// `TLSPolicyEpoch.number`; 0 if the server gets no certificate and has no exception.
    public let tlsPolicyEpoch: Int
    /// The parent through which the connection is tunnelled to the origin; nil if none.
    public let parent: Configuration.Parent.Server?
    /// The address that the client named beside the origin's host; nil if DNS gives the address.
    public let address: IPAddress?

    public init(
        tls: Configuration.TLSTerms? = nil, client: ClientIdentity? = nil, tlsPolicyEpoch: Int = 0,
        parent: Configuration.Parent.Server? = nil, address: IPAddress? = nil
    ) {
        self.tls = tls
        self.client = client
        self.tlsPolicyEpoch = tlsPolicyEpoch
        self.parent = parent
        self.address = address
    }

    /// The terms of a connection without TLS.
    public static let plain = ConnectionTerms()
}

extension ConnectionTerms: Hashable {
    public static func == (left: ConnectionTerms, right: ConnectionTerms) -> Bool {
        left === right
            || left.tlsPolicyEpoch == right.tlsPolicyEpoch && left.tls == right.tls && left.client == right.client
                && left.parent == right.parent && left.address == right.address
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(tls)
        hasher.combine(client)
        hasher.combine(tlsPolicyEpoch)
        hasher.combine(parent)
        hasher.combine(address)
    }
}
