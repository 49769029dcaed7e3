import IO

/// Where clients connect.
public struct ClientListener: Sendable {
    /// With port 0 the system chooses.
    public var address: SocketAddress
    /// Nil: clients connect in clear.
    public let identity: ListenerIdentity?

    public init(_ address: SocketAddress, as identity: ListenerIdentity? = nil) {
        self.address = address
        self.identity = identity
    }
}
