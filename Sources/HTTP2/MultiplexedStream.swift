import Bytes
import HTTP

/// A stream of an HTTP/2 connection, in the part that is the same for both sides. What the peer sends is read as the text of
/// an HTTP/1.1 message, and such text is written to it.
///
/// Belongs to the loop of its connection, which uses the object for one stream after the other. The two refer to each other
/// until the connection is lost.
public class MultiplexedStream {
    /// The result of moving bytes.
    public enum Movement: Equatable, Sendable {
        case moved(Int)
        case wouldBlock
        /// The peer has ended its side, and everything before was read.
        case end
        /// The stream is reset, or its connection is lost.
        case lost
    }

    /// The state of one stream. An object that is used again begins with a new one.
    struct State {
        /// Whether the head that precedes the body has come.
        var isHeadComplete = false
        /// How the body is written in the text.
        var framing = ReceivedFraming.none
        var trailers: ByteBuffer?
        var trailerSize = 0
        /// Whether the peer has ended its side.
        var hasInputEnded = false
        /// Whether the end of a chunked body is in the text.
        var hasTextEnded = false
        /// Whether the end of the written message was sent.
        var isOutputSent = false
        /// Whether the library waits for content.
        var isDeferred = false
        /// The content waits because the peer takes none: the writer must wait.
        var isBlocked = false
        /// Whether the owner has closed the stream.
        var isReleased = false
        /// Whether the stream is over for the library: reset, ended on both sides, or lost with its connection.
        var isOver = false
        /// Whether it is over before the response was whole.
        var isLost = false
    }

    /// The number of the stream; 0 until it has one.
    public internal(set) var id: Int32 = 0
    let connection: MultiplexedConnection
    var state = State()
    /// Text for the reader.
    let text = ByteBuffer(capacity: 512)
    /// DATA that came and is not text yet. The window limits it.
    private let data = ByteBuffer(capacity: 64)
    /// The text of the writer.
    let written = WrittenBody()
    /// Whether it is in the connection's list of changed streams.
    var isMarked = false
    /// The object that the owner of the connection keeps with the stream.
    public var owner: AnyObject?

    /// The limit of content that waits to be sent, in bytes: two records of TLS.
    static let outboundLimit = 32 * 1024
    private static let pieceLimit = 16 * 1024
    /// The room of a reader for which DATA is not collected in `text` first, in bytes.
    private static let leastRoom = 1024
    /// The most bytes of a chunk's size and its two line ends.
    private static let chunkOverhead = 20
    private static let trailerLimit = 64 * 1024

    /// The largest capacity of the empty buffers that are kept with the object, in bytes.
    private static let keptCapacity = 8 * 1024

    init(of connection: MultiplexedConnection) { self.connection = connection }

    /// Prepares for a message. No other object refers to this one.
    func begin(_ id: Int32) {
        self.id = id
        state = State()
    }

    /// Frees what only the last message needed.
    /// - Returns: whether the buffers are small enough to be kept.
    func clear() -> Bool {
        text.clear()
        data.clear()
        written.reset()
        state.trailers = nil
        return text.capacity + data.capacity + written.text.capacity + written.content.capacity <= Self.keptCapacity
    }

    /// Lets the connection use the object again if both its owner and the library have ended the stream.
    func keepIfEnded() { if state.isReleased, state.isOver { connection.keep(self) } }

    /// Whether the owner has closed the stream.
    public var isReleased: Bool { state.isReleased }
    /// Whether the stream is over for the library: reset, ended on both sides, or lost with its connection.
    public var isOver: Bool { state.isOver }
    /// Whether it is over before the response was whole.
    public var isLost: Bool { state.isLost }
    /// Whether the message that is written has not been sent to its end, and the peer still takes it. False for a tunnel.
    public var isSending: Bool {
        written.hasHead && state.framing != .raw && !state.isOutputSent && !state.isOver && !state.isLost
    }

    // MARK: - For the role

    /// The library has found a field that is malformed, and drops it.
    func noteInvalidField() {}

    /// The fields of a head are complete.
    func completeHead(endsStream: Bool) {}

    /// The library has closed the stream.
    func close(_ code: UInt32) {}

    /// The connection is lost.
    func lose() {}

    /// Reads on in the written text.
    /// - Returns: false if it is not what this proxy writes. The stream is reset then.
    func readWritten() -> Bool { false }

    /// Whether the peer has ended its side, or the stream is lost, and everything before was read.
    public var isAtEnd: Bool { state.isLost }

    /// Closes the stream. Bytes that were not read are dropped.
    /// - Parameter isFault: whether the peer must see a fault.
    public func release(asFault isFault: Bool) {}

    // MARK: - What comes

    /// Adds a field of the trailer section.
    func add(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        guard state.trailerSize <= Self.trailerLimit else { return }
        state.trailerSize = state.trailerSize &+ name.count &+ value.count &+ 32
        guard state.trailerSize <= Self.trailerLimit, ReceivedFields.isName(name), ReceivedFields.isValue(value) else {
            return spoilTrailers()
        }
        let lines = state.trailers ?? ByteBuffer(capacity: 256)
        state.trailers = lines
        ReceivedFields.append(name, value, to: lines)
    }

    /// Makes the trailer section one that the parser refuses: it has a field that cannot be written, or too many.
    func spoilTrailers() {
        let lines = state.trailers ?? ByteBuffer(capacity: 64)
        state.trailers = lines
        lines.append("\0\r\n" as StaticString)
    }

    func add(_ bytes: UnsafeBufferPointer<UInt8>) { data.append(bytes.span) }

    func endInput() { state.hasInputEnded = true }

    // MARK: - The reader

    /// Whether a read would bring something: text, the end of the peer's side, or the loss of the stream.
    public var isReadable: Bool {
        if state.isLost || !text.isEmpty || !data.isEmpty { return true }
        return state.hasInputEnded && (state.framing == .chunked && !state.hasTextEnded || isAtEnd)
    }

    /// Whether the peer has ended its side, and all text was read.
    var isReadWhole: Bool {
        state.hasInputEnded && text.isEmpty && data.isEmpty && (state.framing != .chunked || state.hasTextEnded)
    }

    /// Reads text into the free room of `buffer`, at most `limit` bytes. A head brings the content that has come with it, so
    /// that both are passed on at once.
    public func read(into buffer: ByteBuffer, limit: Int) -> Movement {
        if state.isLost { return .lost }
        let (text, data) = (text, data)
        let room = min(limit, buffer.writableCount)
        var moved = 0
        while moved < room {
            if !text.isEmpty {
                let count = min(text.count, room - moved)
                buffer.append(text.readable.extracting(first: count))
                text.consume(count)
                moved += count
            } else if data.isEmpty {
                refillEnd()
                if text.isEmpty { break }
            } else if room - moved >= Self.leastRoom {
                moved += moveData(to: buffer, limit: room - moved)
            } else if moved == 0 {
                moveData(to: text, limit: Self.pieceLimit)
            } else {
                break
            }
        }
        if moved > 0 || !text.isEmpty || !data.isEmpty { return .moved(moved) }
        return isAtEnd ? .end : .wouldBlock
    }

    /// Moves DATA to `buffer`, as a chunk if the body is chunked.
    /// - Returns: the number of bytes written, at most `limit`.
    @discardableResult
    private func moveData(to buffer: ByteBuffer, limit: Int) -> Int {
        let data = data
        let isChunked = state.framing == .chunked
        let count = min(data.count, isChunked ? limit - Self.chunkOverhead : limit)
        let before = buffer.count
        if isChunked {
            buffer.append(hexadecimal: count)
            buffer.appendLineEnd()
        }
        buffer.append(data.readable.extracting(first: count))
        if isChunked { buffer.appendLineEnd() }
        data.consume(count)
        connection.consume(count, of: self)
        connection.noteRead(count, of: self, isAll: data.isEmpty)
        return buffer.count - before
    }

    private func refillEnd() {
        guard state.hasInputEnded, state.framing == .chunked, !state.hasTextEnded else { return }
        state.hasTextEnded = true
        text.append("0\r\n" as StaticString)
        if let lines = state.trailers { text.append(lines.readable) }
        state.trailers = nil
        text.appendLineEnd()
    }

    /// Drops the bytes that were not read.
    func dropInput() {
        connection.consume(data.count, of: self)
        data.clear()
        text.clear()
    }

    // MARK: - The writer

    /// Whether the writer may write.
    public var isWritable: Bool { state.isLost || state.isOver || !state.isBlocked }

    /// Takes at most `limit` bytes of the text from the front of `buffer`.
    public func write(from buffer: ByteBuffer, limit: Int) -> Movement {
        if state.isLost || state.isOver { return .lost }
        guard !buffer.isEmpty else { return .moved(0) }
        let room = written.hasHead ? Self.outboundLimit - written.content.count : .max
        let count = min(buffer.count, limit, room)
        guard count > 0 else {
            state.isBlocked = true
            return .wouldBlock
        }
        written.take(count, from: buffer)
        return readWritten() ? .moved(count) : .lost
    }

    /// Reads on in the written text, behind the head.
    func readWrittenBody() -> Bool {
        if case .fault = written.read() {
            connection.reset(self, .internalError)
            return false
        }
        connection.resume(self)
        return true
    }

    /// Ends the text of the writer, if it is not ended by its framing.
    public func endOutput() {
        guard !state.isOver, !state.isReleased, written.hasHead, written.end() else { return }
        connection.resume(self)
    }

    /// Whether content waits, or the end.
    var hasOutput: Bool { !written.content.isEmpty || written.isComplete }

    /// A piece of content for a DATA frame.
    struct Piece {
        let count: Int
        /// Whether it is the end of the content.
        let isLast: Bool
        /// The trailer section behind the last piece.
        var trailers: ByteBuffer?
    }

    /// The content of the next frame, at most `limit` bytes. Nil: the writer has written no more so far.
    func nextPiece(upTo limit: Int) -> Piece? {
        let count = min(limit, written.content.count)
        if count == 0, !written.isComplete {
            state.isDeferred = true
            return nil
        }
        let isLast = count == written.content.count && written.isComplete
        return Piece(count: count, isLast: isLast, trailers: isLast ? written.trailers : nil)
    }

    /// Moves the first `count` bytes of content to a frame in `buffer`.
    func moveContent(_ count: Int, to buffer: ByteBuffer) {
        let written = written
        let content = written.content
        buffer.append(content.readable.extracting(first: count))
        content.consume(count)
        if state.isBlocked, content.count <= Self.outboundLimit / 2 { state.isBlocked = false }
    }

}

/// The errors by which a stream is reset (RFC 9113 section 7).
public enum StreamError: UInt32, Sendable {
    case noError = 0
    case protocolError = 1
    case internalError = 2
    case refused = 7
    case cancel = 8
    case connectError = 10
    case enhanceYourCalm = 11
    case inadequateSecurity = 12
    /// The client must ask by HTTP/1.1.
    case http11Required = 13

    /// The error for a client whose server has reset the stream with `code`.
    /// - Parameter isCall: whether it is a call of gRPC. Its client makes a code of its own from each of these errors.
    public init(passing code: UInt32, toCall isCall: Bool) {
        switch StreamError(rawValue: code) {
        case .cancel: self = .cancel
        case .enhanceYourCalm where isCall: self = .enhanceYourCalm
        case .inadequateSecurity where isCall: self = .inadequateSecurity
        default: self = .internalError
        }
    }
}
