import Bytes
import Glibc
import HTTP2
import IO
import Transport

/// A stream of a client's HTTP/2 connection, as the channel of the session that serves it.
final class ClientStream: StreamChannel {
    let stream: RequestStream
    private weak var streams: ClientStreams?
    private var isFault = false
    /// The time when bytes moved last, or the stream began.
    private(set) var lastMove: LoopInstant

    init(_ stream: RequestStream, of streams: ClientStreams, on loop: EventLoop) {
        self.stream = stream
        self.streams = streams
        lastMove = loop.now
        super.init(on: loop)
        update()
    }

    /// Takes over what has changed.
    func update() {
        isReadable = stream.isReadable
        isWritable = stream.isWritable
        if stream.isLost {
            isBroken = true
            hasPeerEnded = true
        } else if stream.isAtEnd {
            hasPeerEnded = true
        }
    }

    /// Whether the session can do nothing before the client takes bytes, or sends more.
    var awaitsClient: Bool { !isClosed && (!isWritable || !isReadable && stream.awaitsContent) }

    /// Whether the request is a call of gRPC, also if it must be refused.
    var isCall: Bool { stream.isCall }

    /// Ends the stream with an error of the protocol, in place of a response.
    func refuse(with code: StreamError) {
        stream.refuse(with: code)
        streams?.schedule()
    }

    override func isAtEnd() -> Bool { isClosed || stream.isAtEnd }

    override func tryRead(into buffer: ByteBuffer, limit: Int) -> Transfer {
        if isClosed { return .failed(errno: EBADF) }
        switch stream.read(into: buffer, limit: limit) {
        case .moved(let count):
            isReadable = stream.isReadable
            lastMove = unsafe loop.now
            streams?.schedule()
            return .moved(count)
        case .wouldBlock:
            isReadable = false
            return .wouldBlock
        case .end: return .endOfStream
        case .lost: return .failed(errno: ECONNRESET)
        }
    }

    override func tryWrite(from buffer: ByteBuffer, limit: Int) -> Transfer {
        if isClosed { return .failed(errno: EBADF) }
        switch stream.write(from: buffer, limit: limit) {
        case .moved(let count):
            isWritable = stream.isWritable
            lastMove = unsafe loop.now
            streams?.schedule()
            return .moved(count)
        case .wouldBlock:
            isWritable = false
            return .wouldBlock
        case .end, .lost: return .failed(errno: EPIPE)
        }
    }

    override func shutdownWrite() {
        stream.endOutput()
        streams?.schedule()
    }

    override func resetOnClose() { isFault = true }

    override func release() {
        super.release()
        stream.release(asFault: isFault)
        streams?.schedule()
    }
}
