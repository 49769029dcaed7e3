import Bytes
import Transport

/// The far end of a tunnel whose bytes are not inspected.
public struct OpenedTunnel {
    public let stream: ByteStream
    /// The bytes that have already arrived from it; nil if none.
    public let early: ByteBuffer?

    public init(stream: ByteStream, early: ByteBuffer?) {
        self.stream = stream
        self.early = early
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
