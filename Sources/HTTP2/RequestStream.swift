import Bytes
import HTTP

/// One request on an HTTP/2 connection of a client, and its response, both as the text of HTTP/1.1. The reader gets the
/// request's head and body as a client of HTTP/1.1 would send them; the writer writes a response as for such a client.
public final class RequestStream: MultiplexedStream {
    private let form: RequestForm
    private var request: ReceivedRequest
    private var response = WrittenResponse()
    private(set) var method = Method.get
    /// The handshake that the request begins with a server, if it opens a WebSocket.
    private var handshake: WebSocketHandshake?
    /// Whether the owner of the connection knows the stream, and has not begun it.
    public var isQueued = false

    init(_ id: Int32, of connection: ServerConnection, limits: Limits, form: RequestForm) {
        self.form = form
        request = ReceivedRequest(limits: limits)
        super.init(id, of: connection)
    }

    /// Whether the request's head has come, so that the stream can be served.
    public var isComplete: Bool { isHeadComplete }
    /// The reason why the request must be refused; nil if its text says everything.
    public var defect: Defect? { request.defect }
    /// Whether the request is a call of gRPC, also if it must be refused.
    public var isCall: Bool { request.isCall }
    /// Whether the request is for a tunnel.
    public var asksForTunnel: Bool { method == .connect }

    // MARK: - What comes

    override var isExcessive: Bool { request.isExcessive }

    override func addToHead(_ name: Span<UInt8>, _ value: Span<UInt8>) { request.add(name, value) }

    override func noteInvalidField() {
        if isHeadComplete { spoilTrailers() } else { request.note(.malformedFieldName) }
    }

    override func completeHead(endsStream: Bool) {
        isHeadComplete = true
        do throws(Defect) {
            (method, framing, handshake) = try request.write(to: text, in: form, endsWithHead: endsStream)
        } catch {
            text.clear()
            request.note(error)
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
        while !written.hasHead {
            switch response.readHead(of: &written, answering: method, to: handshake) {
            case .head(let isInterim, let hasContent):
                server?.submit(
                    response.head, written.text.readable, isInterim: isInterim, hasContent: hasContent, on: self)
                response.dropHead(of: written)
                if written.isComplete { return true }
            case .needsMore: return true
            case .fault:
                connection?.reset(self, .internalError)
                return false
            case .noWebSocket:
                connection?.reset(self, .connectError)
                return false
            }
        }
        return readWrittenBody()
    }

    private var server: ServerConnection? { connection as? ServerConnection }

    // MARK: - The end

    /// Closes the stream. Bytes that were not read are dropped. If the response is whole, it is still sent.
    /// - Parameter isFault: whether the client must see a fault.
    public func release(asFault isFault: Bool) {
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
