import Bytes
import IO

/// An ordered stream of bytes in both directions: what every layer above reads and writes.
///
/// Belongs to its loop. One task at a time uses it, and lends it the wake-up on which that task waits.
public final class ByteStream {
    /// The socket underneath, for as long as its bytes are the stream's bytes, so that the kernel may move them.
    public let socket: Socket

    public init(_ socket: Socket) { self.socket = socket }

    /// Takes ownership of an accepted descriptor.
    public convenience init(takingOwnership descriptor: Int32, on loop: EventLoop) throws(IOError) {
        self.init(try Socket(takingOwnership: descriptor, on: loop))
    }

    public var peerAddress: SocketAddress? { socket.peerAddress }
    public var localAddress: SocketAddress? { socket.localAddress }

    /// The task that uses the stream; nil while it rests in a pool.
    public var wakeup: Wakeup? {
        get { socket.wakeup }
        set { socket.wakeup = newValue }
    }

    public var isClosed: Bool { socket.isClosed }

    /// Something has come, or the peer has ended: for a stream at rest, the sign not to use it again.
    public var isReadable: Bool { socket.isReadable }

    /// The time until the stream fails with `timedOut`; every call replaces the one before.
    public func setDeadline(after milliseconds: Int?) {
        socket.clearTimeout()
        socket.setDeadline(after: milliseconds)
    }

    public func tryRead(into buffer: ByteBuffer) -> Transfer { socket.tryRead(into: buffer) }
    public func tryWrite(from buffer: ByteBuffer) -> Transfer { socket.tryWrite(from: buffer) }

    /// Reads at least one byte; 0 is the peer's end.
    public func read(into buffer: ByteBuffer) async throws(IOError) -> Int { try await socket.read(into: buffer) }

    /// Writes all that `buffer` holds in one call, which is the common case; false when some of it is left.
    public func writeAtOnce(_ buffer: ByteBuffer) -> Bool {
        if case .moved = socket.tryWrite(from: buffer), buffer.isEmpty { return true }
        return buffer.isEmpty
    }

    /// Writes all that `buffer` holds.
    public func write(from buffer: ByteBuffer) async throws(IOError) { try await socket.write(from: buffer) }

    /// Reads at least one byte, unless `other`, which has the same wake-up, becomes readable first.
    /// - Parameter idle: milliseconds in which a byte must come.
    /// - Returns: the count; 0 is the peer's end, nil the other's turn.
    public func read(
        into buffer: ByteBuffer, unless other: ByteStream?, idle: Int
    ) async throws(IOError) -> Int? {
        setDeadline(after: idle)
        while true {
            try check()
            switch socket.tryRead(into: buffer) {
            case .moved(0): continue
            case .moved(let count): return count
            case .endOfStream: return 0
            case .failed(let errno): throw .system(errno: errno, operation: "cannot read")
            case .wouldBlock:
                if let other, other.isReadable { return nil }
                await socket.waitForEvent()
            }
        }
    }

    /// Writes the first `count` bytes that `buffer` holds, and consumes them, unless the peer has something to say
    /// while it takes none.
    /// - Parameter idle: milliseconds in which the peer must take a byte, should it not take them at once.
    /// - Returns: whether all were written; false when the peer has something to say.
    public func write(_ count: Int, from buffer: ByteBuffer, idle: Int) async throws(IOError) -> Bool {
        var rest = count
        // What the deadline was for has passed.
        setDeadline(after: nil)
        while rest > 0 {
            try check()
            switch socket.tryWrite(from: buffer, limit: rest) {
            case .moved(let moved): rest -= moved
            case .endOfStream: continue
            case .failed(let errno): throw .system(errno: errno, operation: "cannot write")
            case .wouldBlock:
                if isReadable { return false }
                setDeadline(after: idle)
                await socket.waitForEvent()
            }
        }
        return true
    }

    public func untilReadable() async throws(IOError) { try await socket.untilReadable() }

    /// Throws when the deadline has passed or the stream was closed.
    public func check() throws(IOError) { try socket.check() }

    public func shutdownWrite() { socket.shutdownWrite() }

    public func close() { socket.close() }

    /// Ends the stream so that the peer sees a fault, not an end: a cut-off message must not look whole.
    public func abort() {
        socket.resetOnClose()
        socket.close()
    }
}
