import Bytes
import Transport

/// The far end of a tunnel whose bytes are not looked at.
struct OpenedTunnel {
    let stream: ByteStream
    /// What has come from it already; nil: nothing.
    let early: ByteBuffer?
}
