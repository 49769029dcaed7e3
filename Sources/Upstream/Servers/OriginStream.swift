import HTTP2
import IO
import TLS
import Transport

/// A stream of a shared connection to a server, as the channel of the exchange that uses it. It carries one stream after the
/// other.
final class OriginStream: MultiplexedChannel {
    /// The stream that was carried last; nil between two.
    private(set) var stream: ResponseStream?
    let shared: SharedConnection

    init(_ stream: ResponseStream, of shared: SharedConnection, on loop: EventLoop) {
        self.stream = stream
        self.shared = shared
        super.init(over: stream, of: shared, on: loop)
    }

    /// Continues with the next stream, after `pause`.
    func carryNext(_ stream: ResponseStream) {
        self.stream = stream
        carry(stream)
    }

    /// Closes the stream. The channel may carry another.
    func pause() {
        setDeadline(after: nil)
        (observer, wakeup) = (nil, nil)
        leave()
        stream = nil
    }

    /// The TLS of the connection with the server.
    var tls: TLSConnection? { shared.carrier.stream.tls }

    override func release() {
        super.release()
        shared.noteRelease()
    }
}
