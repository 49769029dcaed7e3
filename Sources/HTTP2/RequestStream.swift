import Bytes
import HTTP

/// One request on an HTTP/2 connection, and its response, both as the text of HTTP/1.1. The reader gets the request's head
/// and body as a client of HTTP/1.1 would send them; the writer writes a response as for such a client.
///
/// Belongs to the loop of its connection, which it may outlive.
public final class RequestStream {
    /// The result of moving bytes.
    public enum Movement: Equatable {
        case moved(Int)
        case wouldBlock
        /// The client has ended its side of a tunnel.
        case end
        /// The stream is reset, or its connection is lost.
        case lost
    }

    public let id: Int32
    private weak var connection: ServerConnection?
    private var request: RequestText
    private(set) var method = Method.get
    /// The handshake that the request begins with a server, if it opens a WebSocket.
    private var handshake: WebSocketHandshake?
    private var framing = RequestText.Framing.none
    private var isHeadComplete = false
    /// Text of the request for the reader.
    private let text = ByteBuffer(capacity: 512)
    /// DATA that came and is not text yet. The window limits it.
    private let data = ByteBuffer(capacity: 64)
    private var trailers: ByteBuffer?
    private var trailerSize = 0
    /// Whether the client has ended its side.
    private(set) var hasInputEnded = false
    /// Whether the end of a chunked body is in the text.
    private var hasTextEnded = false
    private var response = ResponseText()
    /// Whether the library has what it needs to send HEADERS of the final response.
    private var isAnswered = false
    /// Whether the end of the response was sent.
    private var isOutputSent = false
    /// Whether the library waits for content.
    var isDeferred = false
    /// The content waits because the peer takes none: the writer must wait.
    private var isBlocked = false
    /// Whether the owner has closed the stream.
    public private(set) var isReleased = false
    /// Whether the stream is over for the library: reset, ended on both sides, or lost with its connection.
    public private(set) var isOver = false
    /// Whether it is over before the response was whole.
    public private(set) var isLost = false
    /// Whether it is in the connection's list of changed streams.
    var isMarked = false
    /// Whether the owner of the connection knows the stream, and has not begun it.
    public var isQueued = false
    /// The object that the owner of the connection keeps with the stream.
    public var owner: AnyObject?

    /// The limit of content that waits to be sent, in bytes: two records of TLS.
    static let outboundLimit = 32 * 1024
    private static let pieceLimit = 16 * 1024
    private static let trailerLimit = 64 * 1024

    init(_ id: Int32, of connection: ServerConnection, limits: Limits) {
        self.id = id
        self.connection = connection
        request = RequestText(limits: limits)
    }

    /// Whether the request's head has come, so that the stream can be served.
    public var isComplete: Bool { isHeadComplete }
    /// The reason why the request must be refused; nil if its text says everything.
    public var defect: Defect? { request.defect }
    /// Whether the request is for a tunnel.
    public var asksForTunnel: Bool { method == .connect }

    // MARK: - What comes

    var isExcessive: Bool { request.isExcessive }

    func add(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        guard isHeadComplete else { return request.add(name, value) }
        guard trailerSize <= Self.trailerLimit else { return }
        trailerSize = trailerSize &+ name.count &+ value.count &+ 32
        guard trailerSize <= Self.trailerLimit, RequestText.isName(name), RequestText.isValue(value) else {
            return spoilTrailers()
        }
        let lines = trailers ?? ByteBuffer(capacity: 256)
        trailers = lines
        RequestText.append(name, value, to: lines)
    }

    func noteInvalidField() { if isHeadComplete { spoilTrailers() } else { request.note(.malformedFieldName) } }

    /// Makes the trailer section one that the parser refuses: it has a field that cannot be written, or too many.
    private func spoilTrailers() {
        let lines = trailers ?? ByteBuffer(capacity: 64)
        trailers = lines
        lines.append("\0\r\n" as StaticString)
    }

    func completeHead(in form: RequestForm, endsWithHead: Bool) {
        guard !isHeadComplete else { return }
        isHeadComplete = true
        do throws(Defect) {
            (method, framing, handshake) = try request.write(to: text, in: form, endsWithHead: endsWithHead)
        } catch {
            text.clear()
            request.note(error)
        }
        if endsWithHead { endInput() }
    }

    func add(_ bytes: UnsafeBufferPointer<UInt8>) { data.append(bytes.span) }

    func endInput() { hasInputEnded = true }

    /// The library has closed the stream.
    func close(isWhole: Bool) {
        isOver = true
        if !isWhole || !isOutputSent { isLost = true }
    }

    // MARK: - The reader

    /// Whether a read would bring something.
    public var isReadable: Bool {
        if isLost || !text.isEmpty || !data.isEmpty { return true }
        guard hasInputEnded else { return false }
        switch framing {
        case .chunked: return !hasTextEnded
        case .raw: return true
        case .none, .length: return false
        }
    }

    /// Whether the client has to send more content.
    public var awaitsContent: Bool { !hasInputEnded && framing != .raw && !isOver }

    /// Whether the client has ended its side of a tunnel, and everything before was read.
    public var isAtEnd: Bool { isLost || framing == .raw && hasInputEnded && text.isEmpty && data.isEmpty }

    /// Reads text into the free room of `buffer`, at most `limit` bytes.
    public func read(into buffer: ByteBuffer, limit: Int) -> Movement {
        if isLost { return .lost }
        let text = text
        if text.isEmpty { refill() }
        if text.isEmpty { return framing == .raw && hasInputEnded ? .end : .wouldBlock }
        let count = min(text.count, limit, buffer.writableCount)
        buffer.append(text.readable.extracting(first: count))
        text.consume(count)
        return .moved(count)
    }

    private func refill() {
        let (text, data) = (text, data)
        let count = min(data.count, Self.pieceLimit)
        guard count > 0 else { return refillEnd() }
        if framing == .chunked {
            text.append(hexadecimal: count)
            text.appendLineEnd()
        }
        text.append(data.readable.extracting(first: count))
        if framing == .chunked { text.appendLineEnd() }
        data.consume(count)
        connection?.consume(count, of: self)
    }

    private func refillEnd() {
        guard hasInputEnded, framing == .chunked, !hasTextEnded else { return }
        hasTextEnded = true
        text.append("0\r\n" as StaticString)
        if let lines = trailers { text.append(lines.readable) }
        trailers = nil
        text.appendLineEnd()
    }

    // MARK: - The writer

    /// Whether the writer may write.
    public var isWritable: Bool { isLost || !isBlocked }

    /// Takes at most `limit` bytes of the response's text from the front of `buffer`.
    public func write(from buffer: ByteBuffer, limit: Int) -> Movement {
        if isLost || isOver { return .lost }
        guard !buffer.isEmpty else { return .moved(0) }
        let room = response.hasHead ? Self.outboundLimit - response.content.count : .max
        let count = min(buffer.count, limit, room)
        guard count > 0 else {
            isBlocked = true
            return .wouldBlock
        }
        let text = response.text
        text.append(buffer.readable.extracting(first: count))
        buffer.consume(count)
        while true {
            switch response.read(answering: method, to: handshake) {
            case .head(let isInterim, let hasContent):
                connection?.submit(
                    response.head, text.readable, isInterim: isInterim, hasContent: hasContent, on: self)
                response.dropHead()
                if !isInterim { isAnswered = true }
                if response.isComplete { return .moved(count) }
            case .content, .end, .needsMore:
                connection?.resume(self)
                return .moved(count)
            case .fault:
                connection?.reset(self, .internalError)
                return .lost
            case .noWebSocket:
                connection?.reset(self, .connectError)
                return .lost
            }
        }
    }

    /// Ends the writer's side of a tunnel, or a response without a length.
    public func endOutput() {
        guard !isOver, !isReleased, response.hasHead, response.end() else { return }
        connection?.resume(self)
    }

    /// Whether content waits, or the end.
    var hasOutput: Bool { !response.content.isEmpty || response.isComplete }

    /// A piece of content for a DATA frame.
    struct Piece {
        let count: Int
        /// Whether it is the end of the content.
        let isLast: Bool
        /// The trailer section behind the last piece.
        var trailers: ByteBuffer?
    }

    /// Moves content into a frame. Nil: the writer has written no more so far.
    func takeContent(into room: UnsafeMutableRawBufferPointer) -> Piece? {
        let content = response.content
        let count = min(room.count, content.count)
        if count == 0, !response.isComplete {
            isDeferred = true
            return nil
        }
        _ = content.withReadable { bytes in
            room.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            return count
        }
        content.consume(count)
        if isBlocked, content.count <= Self.outboundLimit / 2 { isBlocked = false }
        let isLast = content.isEmpty && response.isComplete
        return Piece(count: count, isLast: isLast, trailers: isLast ? response.trailers : nil)
    }

    /// The library has sent the end of the response.
    /// - Returns: whether the client must be told to stop sending.
    func noteOutputSent() -> Bool {
        isOutputSent = true
        return isReleased && !hasInputEnded
    }

    // MARK: - The end

    /// Closes the stream. Bytes that were not read are dropped. If the response is whole, it is still sent.
    /// - Parameter isFault: whether the client must see a fault.
    public func release(asFault isFault: Bool) {
        guard !isReleased else { return }
        isReleased = true
        owner = nil
        connection?.consume(data.count, of: self)
        data.clear()
        text.clear()
        guard !isOver, let connection else { return }
        guard !isFault, response.hasHead, response.end() else {
            return connection.reset(self, framing == .raw && response.hasHead ? .connectError : .internalError)
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

/// The errors by which a stream is reset (RFC 9113 section 7).
public enum StreamError: UInt32, Sendable {
    case noError = 0
    case internalError = 2
    case refused = 7
    case cancel = 8
    case connectError = 10
    /// The client must ask by HTTP/1.1.
    case http11Required = 13
}
