import HTTP2
import IO
import Transport

/// A stream of a client's HTTP/2 connection, as the channel of the session that serves it. It carries one stream after the
/// other.
final class ClientStream: MultiplexedChannel {
    /// The time when bytes moved last, or the stream began.
    private(set) var lastMove: LoopInstant

    init(_ stream: RequestStream, of owner: StreamOwner, on loop: EventLoop) {
        lastMove = loop.now
        super.init(over: stream, of: owner, on: loop)
    }

    /// Continues with the next stream, after `leave`.
    func carryNext(_ stream: RequestStream) {
        lastMove = unsafe loop.now
        carry(stream)
    }

    private var stream: RequestStream? { multiplexed as? RequestStream }

    override func noteMove() {
        lastMove = unsafe loop.now
        schedule()
    }

    /// Whether the session can do nothing before the client takes bytes, or sends more.
    var awaitsClient: Bool { carriesStream && (!isWritable || !isReadable && stream?.awaitsContent == true) }

    /// Whether the request is a call of gRPC, also if it must be refused.
    var isCall: Bool { stream?.isCall ?? false }

    /// Ends the stream with an error of the protocol, in place of a response.
    func refuse(with code: StreamError) {
        stream?.refuse(with: code)
        schedule()
    }
}
