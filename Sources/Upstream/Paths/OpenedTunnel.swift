import Bytes
import IO
import Transport

/// The far end of a tunnel whose bytes are not inspected.
public struct OpenedTunnel {
    public let stream: ByteStream
    /// The bytes that have already arrived from it; nil if none.
    public let early: ByteBuffer?

    /// The address of the server, or of the parent on the way to it.
    public let address: IPAddress?

    /// - Parameter connection: the connection to the parent that has opened the tunnel; nil without one.
    public init(stream: ByteStream, early: ByteBuffer?, through connection: OriginConnection? = nil) {
        self.stream = stream
        self.early = early
        address = connection.map(\.peerAddress) ?? stream.peerAddress?.address
    }

    /// Takes the connection of an exchange for a tunnel with another protocol. Nil if the connection is gone.
    public init?(from upstream: UpstreamConnection) {
        let inbound = upstream.inbound
        let early = ByteBuffer(capacity: max(1, inbound.count))
        early.append(inbound.readable)
        guard let connection = upstream.detach() else { return nil }
        self.init(stream: connection.stream, early: early)
    }
}
