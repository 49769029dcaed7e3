import Bytes
import HTTP

/// Reads the text of the responses to one request, which the code for HTTP/1.1 writes, and separates heads, content and
/// trailers. A fault of this text is ours.
struct ResponseText {
    enum Stage {
        /// Awaits the end of a head; becomes `.head` after an interim response, else one of the others.
        case head
        /// Awaits that many bytes of content, at least one; becomes `.complete`.
        case length(Int)
        /// Awaits chunks; becomes `.complete`.
        case chunked(ChunkedDecoder)
        /// All bytes are content, until the writer ends it; becomes `.complete`.
        case untilEnd
        /// All bytes are those of a tunnel, until the writer ends it; becomes `.complete`.
        case raw
        /// No more bytes may come. Stays.
        case complete
    }

    /// The part of the text that was found.
    enum Part {
        /// The parsed head. It must be taken before the next call.
        case head(isInterim: Bool, hasContent: Bool)
        /// Content was appended to `content`.
        case content
        case end
        case needsMore
        /// The text is not what this proxy writes.
        case fault
        /// The server has not opened the WebSocket that it was asked for, but claims to.
        case noWebSocket
    }

    private static let limits = Limits(head: 320 << 10, fields: 320)

    private(set) var stage = Stage.head
    /// Text that was not read yet: a part of a head or of a chunk's line.
    let text = ByteBuffer(capacity: 1024)
    /// The content that waits to be sent.
    let content = ByteBuffer(capacity: 64)
    /// The lines of the trailer section; nil for a response without one.
    private(set) var trailers: ByteBuffer?
    private var headLength = 0
    let head = ResponseHead(limits: Self.limits)

    var isComplete: Bool { if case .complete = stage { true } else { false } }
    /// Whether the head of the final response was read.
    var hasHead: Bool { if case .head = stage { false } else { true } }

    /// Reads on in `text`.
    /// - Parameter handshake: that of the request, if it opens a WebSocket.
    mutating func read(answering method: Method, to handshake: WebSocketHandshake? = nil) -> Part {
        switch stage {
        case .head: return readHead(answering: method, to: handshake)
        case .length(let rest):
            guard !text.isEmpty else { return .needsMore }
            guard text.count <= rest else { return .fault }
            return take(text.count, of: rest)
        case .chunked(var decoder):
            let part = readChunks(&decoder)
            if case .chunked = stage { stage = .chunked(decoder) }
            return part
        case .untilEnd, .raw:
            guard !text.isEmpty else { return .needsMore }
            move(text.count)
            return .content
        case .complete: return text.isEmpty ? .needsMore : .fault
        }
    }

    /// The writer has ended the text.
    /// - Returns: whether the response is whole.
    mutating func end() -> Bool {
        switch stage {
        case .untilEnd, .raw:
            stage = .complete
            return true
        case .complete: return true
        case .head, .length, .chunked: return false
        }
    }

    /// Forgets the head that was found.
    mutating func dropHead() {
        text.consume(headLength)
        headLength = 0
        head.reset()
    }

    private mutating func readHead(answering method: Method, to handshake: WebSocketHandshake?) -> Part {
        guard !text.isEmpty else { return .needsMore }
        head.reset()
        do throws(HTTPError) {
            guard case .complete(let length) = try head.parse(text.readable, answering: method) else {
                return .needsMore
            }
            headLength = length
        } catch { return .fault }
        if head.status == .switchingProtocols {
            guard let handshake else { return .fault }
            guard handshake.isAccepted(by: head, in: text.readable) else { return .noWebSocket }
            stage = .raw
            return .head(isInterim: false, hasContent: true)
        }
        if head.status.isInterim { return .head(isInterim: true, hasContent: false) }
        // A 2xx would tell the client that the WebSocket is open.
        if handshake != nil, head.status.isSuccessful { return .noWebSocket }
        if method == .connect, head.status.isSuccessful {
            stage = .raw
            return .head(isInterim: false, hasContent: true)
        }
        switch head.framing {
        case .none, .length(0): stage = .complete
        case .length(let length): stage = .length(length)
        case .chunked: stage = .chunked(ChunkedDecoder(fault: .client, limits: Self.limits))
        case .untilClose: stage = .untilEnd
        }
        return .head(isInterim: false, hasContent: !isComplete)
    }

    private mutating func take(_ count: Int, of rest: Int) -> Part {
        move(count)
        stage = rest > count ? .length(rest - count) : .complete
        return .content
    }

    private func move(_ count: Int) {
        let (text, content) = (text, content)
        content.append(text.readable.extracting(first: count))
        text.consume(count)
    }

    private mutating func readChunks(_ decoder: inout ChunkedDecoder) -> Part {
        let (text, content) = (text, content)
        let lines = trailers ?? ByteBuffer(capacity: 64)
        let part = Self.read(text, with: &decoder, content: content, trailers: lines)
        if !lines.isEmpty { trailers = lines }
        if case .end = part { stage = .complete }
        return part
    }

    private static func read(
        _ text: ByteBuffer, with decoder: inout ChunkedDecoder, content: ByteBuffer, trailers: ByteBuffer
    ) -> Part {
        let bytes = text.readable
        var offset = 0
        do throws(HTTPError) {
            while true {
                switch try decoder.next(bytes, from: offset) {
                case .needsMore(let consumed):
                    text.consume(consumed)
                    return .needsMore
                case .data(let range):
                    content.append(bytes.extracting(range))
                    offset = range.upperBound
                case .trailer(let range):
                    trailers.append(bytes.extracting(range))
                    offset = range.upperBound
                case .end(let consumed):
                    text.consume(consumed)
                    return text.isEmpty ? .end : .fault
                }
            }
        } catch { return .fault }
    }
}
