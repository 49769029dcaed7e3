import Bytes
import Glibc
import HTTP2
import IO
import TLS
import Transport

/// A stream of a shared connection to a server, as the channel of the exchange that uses it.
final class OriginStream: StreamChannel {
    let stream: ResponseStream
    let shared: SharedConnection
    private var isFault = false

    init(_ stream: ResponseStream, of shared: SharedConnection, on loop: EventLoop) {
        self.stream = stream
        self.shared = shared
        super.init(on: loop)
        stream.owner = self
        isReadable = stream.isReadable
        isWritable = stream.isWritable
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

    /// The TLS of the connection with the server.
    var tls: TLSConnection? { shared.carrier.stream.tls }

    override func isAtEnd() -> Bool { isClosed || stream.isAtEnd }

    override func tryRead(into buffer: ByteBuffer, limit: Int) -> Transfer {
        if isClosed { return .failed(errno: EBADF) }
        switch stream.read(into: buffer, limit: limit) {
        case .moved(let count):
            isReadable = stream.isReadable
            shared.schedule()
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
            shared.schedule()
            return .moved(count)
        case .wouldBlock:
            isWritable = false
            return .wouldBlock
        case .end, .lost: return .failed(errno: EPIPE)
        }
    }

    override func shutdownWrite() {
        stream.endOutput()
        shared.schedule()
    }

    override func resetOnClose() { isFault = true }

    override func release() {
        super.release()
        stream.release(asFault: isFault)
        shared.noteRelease()
    }
}
