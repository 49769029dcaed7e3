import Bytes
import Transport

/// The far end of a tunnel whose bytes are not looked at.
public struct OpenedTunnel {
    public let stream: ByteStream
    /// The bytes that have come from it already; nil: none.
    public let early: ByteBuffer?

    public init(stream: ByteStream, early: ByteBuffer?) {
        self.stream = stream
        self.early = early
    }

    /// The connection on which another protocol is spoken from now on, taken from the exchange that it carried; nil where it
    /// is gone.
    public init?(from upstream: UpstreamConnection) {
        let inbound = upstream.inbound
        let early = ByteBuffer(capacity: max(1, inbound.count))
        early.append(inbound.readable)
        guard let connection = upstream.detach() else { return nil }
        self.init(stream: connection.stream, early: early)
    }
}
