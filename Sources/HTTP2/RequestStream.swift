import Bytes
import HTTP

/// One request on an HTTP/2 connection of a client, and its response, both as the text of HTTP/1.1. The reader gets the
/// request's head and body as a client of HTTP/1.1 would send them; the writer writes a response as for such a client.
public final class RequestStream: MultiplexedStream {
    /// The facts of the request's head.
    private struct Head {
        var defect: Defect?
        var isCall = false
        var method = Method.get
        var handshake: WebSocketHandshake?
    }

    private let server: ServerConnection
    private var head = Head()
    /// Whether the owner of the connection knows the stream, and has not begun it.
    public var isQueued = false

    init(of server: ServerConnection) {
        self.server = server
        super.init(of: server)
    }

    override func begin(_ id: Int32) {
        super.begin(id)
        head = Head()
        isQueued = false
    }

    /// The reason why the request must be refused; nil if its text says everything.
    public var defect: Defect? { head.defect }
    /// Whether the request is a call of gRPC, also if it must be refused.
    public var isCall: Bool { head.isCall }
    /// Whether the request's head has come, so that the stream can be served.
    public var isComplete: Bool { state.isHeadComplete }
    /// Whether the request is for a tunnel.
    public var asksForTunnel: Bool { head.method == .connect }

    // MARK: - What comes

    override func noteInvalidField() {
        if state.isHeadComplete { spoilTrailers() } else { server.request.note(.malformedFieldName) }
    }

    override func completeHead(endsStream: Bool) {
        let request = server.request
        state.isHeadComplete = true
        head.isCall = request.isCall
        do throws(Defect) {
            (head.method, state.framing, head.handshake) = try request.write(to: text, endsWithHead: endsStream)
        } catch {
            text.clear()
            head.defect = error
        }
        if endsStream { endInput() }
    }

    override func close(_ code: UInt32) {
        state.isOver = true
        // A client that has its response may stop its request by NO_ERROR, as Go does.
        let isEnded = state.isOutputSent && (state.hasInputEnded || state.framing == .raw)
        if code != StreamError.noError.rawValue || !isEnded { state.isLost = true }
    }

    override func lose() {
        state.isOver = true
        state.isLost = true
    }

    // MARK: - The reader

    /// Whether the client has to send more content.
    public var awaitsContent: Bool { !state.hasInputEnded && state.framing != .raw && !state.isOver }

    /// Whether the client has ended its side of a tunnel, and everything before was read; or the stream is lost. The end of a
    /// request does not count: its client waits for the response.
    override public var isAtEnd: Bool { state.isLost || state.framing == .raw && isReadWhole }

    // MARK: - The writer

    override func readWritten() -> Bool {
        let written = written
        let response = server.response
        while !written.hasHead {
            switch response.readHead(of: written, answering: head.method, to: head.handshake) {
            case .head(let isInterim, let hasContent):
                server.submit(isInterim: isInterim, hasContent: hasContent, on: self)
                if written.isComplete { return true }
            case .needsMore: return true
            case .fault:
                server.reset(self, .internalError)
                return false
            case .noWebSocket:
                server.reset(self, .connectError)
                return false
            }
        }
        return readWrittenBody()
    }

    // MARK: - The end

    /// Closes the stream. Bytes that were not read are dropped. If the response is whole, it is still sent.
    /// - Parameter isFault: whether the client must see a fault.
    override public func release(asFault isFault: Bool) {
        guard !state.isReleased else { return }
        state.isReleased = true
        owner = nil
        dropInput()
        guard !state.isOver else { return keepIfEnded() }
        guard !isFault, written.hasHead, written.end() else {
            return server.reset(self, state.framing == .raw && written.hasHead ? .connectError : .internalError)
        }
        server.resume(self)
        if state.isOutputSent, !state.hasInputEnded { server.reset(self, .noError) }
    }

    /// Ends the stream with an error of the protocol, in place of a response.
    public func refuse(with code: StreamError) {
        guard !state.isOver else { return }
        server.reset(self, code)
    }
}
