import HTTP2
import IO
import TLS
import Transport

/// A stream of a shared connection to a server, as the channel of the exchange that uses it.
final class OriginStream: MultiplexedChannel {
    let stream: ResponseStream
    let shared: SharedConnection

    init(_ stream: ResponseStream, of shared: SharedConnection, on loop: EventLoop) {
        self.stream = stream
        self.shared = shared
        super.init(over: stream, of: shared, on: loop)
    }

    /// The TLS of the connection with the server.
    var tls: TLSConnection? { shared.carrier.stream.tls }

    override func release() {
        super.release()
        shared.noteRelease()
    }
}
