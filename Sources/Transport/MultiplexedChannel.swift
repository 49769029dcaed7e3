import Bytes
import Glibc
import HTTP2
import IO

/// A stream of an HTTP/2 connection as the channel of the exchange or session that uses it. The owner of the connection
/// calls `update` for each stream that has changed, and moves its bytes after `schedule`.
open class MultiplexedChannel: StreamChannel {
    /// The stream; nil when it was released.
    public private(set) final var multiplexed: MultiplexedStream?
    private let owner: StreamOwner
    private var isFault = false

    public init(over stream: MultiplexedStream, of owner: StreamOwner, on loop: EventLoop) {
        self.owner = owner
        super.init(on: loop)
        carry(stream)
    }

    /// Continues with that stream, after `leave`.
    public final func carry(_ stream: MultiplexedStream) {
        multiplexed = stream
        stream.owner = self
        (hasPeerEnded, isBroken, isFault) = (false, false, false)
        update()
    }

    /// Closes the stream. The channel stays open, and may carry another.
    public final func leave() {
        multiplexed.take()?.release(asFault: isFault)
        (isReadable, isWritable) = (false, false)
        schedule()
    }

    /// Has the connection move the bytes of its streams, after the events of this batch.
    public final func schedule() { owner.schedule() }

    /// Bytes have moved to or from the stream.
    open func noteMove() { schedule() }

    /// Whether the channel has a stream now.
    public final var carriesStream: Bool { multiplexed != nil }

    /// Takes over what has changed.
    public final func update() {
        guard let multiplexed else { return }
        isReadable = multiplexed.isReadable
        isWritable = multiplexed.isWritable
        if multiplexed.isLost {
            isBroken = true
            hasPeerEnded = true
        } else if multiplexed.isAtEnd {
            hasPeerEnded = true
        }
    }

    override public final func isAtEnd() -> Bool { multiplexed?.isAtEnd ?? true }

    override public final var isSending: Bool { multiplexed?.isSending ?? false }

    override public final func tryRead(into buffer: ByteBuffer, limit: Int) -> Transfer {
        guard let multiplexed else { return .failed(errno: EBADF) }
        switch multiplexed.read(into: buffer, limit: limit) {
        case .moved(let count):
            isReadable = multiplexed.isReadable
            noteMove()
            return .moved(count)
        case .wouldBlock:
            isReadable = false
            return .wouldBlock
        case .end: return .endOfStream
        case .lost: return .failed(errno: ECONNRESET)
        }
    }

    override public final func tryWrite(from buffer: ByteBuffer, limit: Int) -> Transfer {
        guard let multiplexed else { return .failed(errno: EBADF) }
        switch multiplexed.write(from: buffer, limit: limit) {
        case .moved(let count):
            isWritable = multiplexed.isWritable
            noteMove()
            return .moved(count)
        case .wouldBlock:
            isWritable = false
            return .wouldBlock
        case .end, .lost: return .failed(errno: EPIPE)
        }
    }

    override public final func shutdownWrite() {
        multiplexed?.endOutput()
        schedule()
    }

    override public final func resetOnClose() { isFault = true }

    override open func release() {
        super.release()
        leave()
    }
}
