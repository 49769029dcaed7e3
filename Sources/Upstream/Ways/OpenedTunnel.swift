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
}
