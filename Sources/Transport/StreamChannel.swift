import Bytes
import IO
import TLS

/// The base of a `ByteStream`: a socket, or a stream of a shared connection. Each requirement keeps the contract of
/// `Socket`.
protocol StreamBase: RecordTransport {
    /// Whether the peer still takes the message that is written, and has not been sent all of it.
    var isSending: Bool { get }
    func isAtEnd() -> Bool
    func tryRead(into buffer: ByteBuffer, limit: Int) -> Transfer
    func tryWrite(from buffer: ByteBuffer, limit: Int) -> Transfer
    func shutdownWrite()
    func resetOnClose()
}

extension Socket: StreamBase {
    /// False: the system sends what was written.
    var isSending: Bool { false }
}

/// A stream of a connection that carries several, as a channel. The owner of the connection overrides all that moves
/// bytes, sets the flags, and announces them.
///
/// `tryRead` and `tryWrite` keep the contract of a socket: after `.wouldBlock` the flag is clear until bytes can move, and
/// that is announced.
open class StreamChannel: Channel, StreamBase {
    /// Whether the peer has ended the stream, or it is lost, and everything before was read.
    open func isAtEnd() -> Bool { true }

    /// Whether the peer still takes the message that is written, and has not been sent all of it.
    open var isSending: Bool { false }

    /// Reads into `buffer` at most `limit` bytes.
    open func tryRead(into buffer: ByteBuffer, limit: Int) -> Transfer { .endOfStream }

    /// Writes at most `limit` bytes from the front of `buffer`, and consumes the written ones.
    open func tryWrite(from buffer: ByteBuffer, limit: Int) -> Transfer { .endOfStream }

    /// Tells the peer that no more bytes follow.
    open func shutdownWrite() {}

    /// Makes `close` show the peer a fault: a truncated message must not look complete.
    open func resetOnClose() {}

    public final func read(into room: inout MutableRawSpan) -> RecordTransfer {
        let pool = unsafe loop.buffers
        let buffer = pool.take()
        defer { pool.give(buffer) }
        buffer.clear()
        let transfer = tryRead(into: buffer, limit: min(room.byteCount, buffer.writableCount))
        guard case .moved(let count) = transfer else { return RecordTransfer(transfer) }
        let bytes = buffer.readable
        for place in 0..<count { room.storeBytes(of: bytes[place], toByteOffset: place, as: UInt8.self) }
        return .moved(count)
    }

    public final func write(_ bytes: RawSpan) -> RecordTransfer {
        let pool = unsafe loop.buffers
        let buffer = pool.take()
        defer { pool.give(buffer) }
        buffer.clear()
        let count = min(bytes.byteCount, buffer.writableCount)
        for place in 0..<count { buffer.append(unsafe bytes.unsafeLoad(fromByteOffset: place, as: UInt8.self)) }
        return RecordTransfer(tryWrite(from: buffer, limit: count))
    }
}
