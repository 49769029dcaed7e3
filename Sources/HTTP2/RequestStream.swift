import Bytes
import HTTP

/// One request on an HTTP/2 connection of a client, and its response, both as the text of HTTP/1.1. The reader gets the
/// request's head and body as a client of HTTP/1.1 would send them; the writer writes a response as for such a client.
public final class RequestStream: MultiplexedStream {
    /// The reason why the request must be refused; nil if its text says everything.
    public private(set) var defect: Defect?
    /// Whether the request is a call of gRPC, also if it must be refused.
    public private(set) var isCall = false
    private(set) var method = Method.get
    /// The handshake that the request begins with a server, if it opens a WebSocket.
    private var handshake: WebSocketHandshake?
    /// Whether the owner of the connection knows the stream, and has not begun it.
    public var isQueued = false

    /// Whether the request's head has come, so that the stream can be served.
    public var isComplete: Bool { isHeadComplete }
    /// Whether the request is for a tunnel.
    public var asksForTunnel: Bool { method == .connect }

    // MARK: - What comes

    override func noteInvalidField() {
        if isHeadComplete { spoilTrailers() } else { server?.request.note(.malformedFieldName) }
    }

    override func completeHead(endsStream: Bool) {
        guard let request = server?.request else { return }
        isHeadComplete = true
        isCall = request.isCall
        do throws(Defect) {
            (method, framing, handshake) = try request.write(to: text, endsWithHead: endsStream)
        } catch {
            text.clear()
            defect = error
        }
        if endsStream { endInput() }
    }

    override func close(_ code: UInt32) {
        isOver = true
        if code != StreamError.noError.rawValue || !isOutputSent { isLost = true }
    }

    override func lose() {
        isOver = true
        isLost = true
    }

    // MARK: - The reader

    /// Whether the client has to send more content.
    public var awaitsContent: Bool { !hasInputEnded && framing != .raw && !isOver }

    /// Whether the client has ended its side of a tunnel, and everything before was read; or the stream is lost. The end of a
    /// request does not count: its client waits for the response.
    override public var isAtEnd: Bool { isLost || framing == .raw && isReadWhole }

    // MARK: - The writer

    override func readWritten() -> Bool {
        guard let server else { return false }
        while !written.hasHead {
            switch server.response.readHead(of: &written, answering: method, to: handshake) {
            case .head(let isInterim, let hasContent):
                server.submit(
                    server.response.head, written.text.readable, isInterim: isInterim, hasContent: hasContent, on: self)
                server.response.dropHead(in: written.text)
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

    private var server: ServerConnection? { connection as? ServerConnection }

    // MARK: - The end

    /// Closes the stream. Bytes that were not read are dropped. If the response is whole, it is still sent.
    /// - Parameter isFault: whether the client must see a fault.
    override public func release(asFault isFault: Bool) {
        guard !isReleased else { return }
        isReleased = true
        owner = nil
        dropInput()
        guard !isOver, let connection else { return }
        guard !isFault, written.hasHead, written.end() else {
            return connection.reset(self, framing == .raw && written.hasHead ? .connectError : .internalError)
        }
        connection.resume(self)
        if isOutputSent, !hasInputEnded { connection.reset(self, .noError) }
    }

    /// Ends the stream with an error of the protocol, in place of a response.
    public func refuse(with code: StreamError) {
        guard !isOver else { return }
        connection?.reset(self, code)
    }
}
