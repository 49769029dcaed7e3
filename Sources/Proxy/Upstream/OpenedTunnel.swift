import Bytes
import Transport

/// The far end of a tunnel whose bytes are not looked at.
struct OpenedTunnel {
    let stream: ByteStream
    /// The bytes that have come from it already; nil: none.
    let early: ByteBuffer?
}
