import Bytes
import HTTP

/// The text of a message that the code for HTTP/1.1 writes, and what it says: content and trailers. The head is read by
/// `WrittenRequest` or `WrittenResponse`. A fault of this text is ours.
final class WrittenBody {
    /// It has no values, since these would be compared with each question.
    enum Stage {
        /// Awaits the end of a head; becomes `.head` after an interim response, else one of the others.
        case head
        /// Awaits `rest` bytes of content; becomes `.complete`.
        case length
        /// Awaits chunks; becomes `.complete`.
        case chunked
        /// All bytes are content, until the writer ends it; becomes `.complete`.
        case untilEnd
        /// All bytes are those of a tunnel, until the writer ends it; becomes `.complete`.
        case raw
        /// No more bytes may come. Stays.
        case complete
    }

    /// The part of the text that was found.
    enum Part {
        /// Content was appended to `content`.
        case content
        case end
        case needsMore
        /// The text is not what this proxy writes.
        case fault
    }

    static let limits = Limits(startLine: 64 << 10, head: 320 << 10, fields: 320)

    var stage = Stage.head
    /// The bytes of content that are still to come, if it has a length.
    private var rest = 0
    private var decoder = ChunkedDecoder(fault: .client, limits: WrittenBody.limits)
    /// Text that was not read yet: a part of a head or of a chunk's line. Small before the first head, since many streams may
    /// wait for one.
    let text = ByteBuffer(capacity: 64)
    /// The content that waits to be sent.
    let content = ByteBuffer(capacity: 64)
    /// The lines of the trailer section; nil for a message without one.
    private(set) var trailers: ByteBuffer?

    /// Prepares for the next message.
    func reset() {
        stage = .head
        text.clear()
        content.clear()
        trailers = nil
    }

    var isComplete: Bool { stage == .complete }
    /// Whether the head was read, in a response that of the final one.
    var hasHead: Bool { stage != .head }

    /// Begins the body behind a head.
    func begin(_ framing: BodyFraming) {
        switch framing {
        case .none, .length(0): stage = .complete
        case .length(let length): (stage, rest) = (.length, length)
        case .chunked: (stage, decoder) = (.chunked, ChunkedDecoder(fault: .client, limits: Self.limits))
        case .untilClose: stage = .untilEnd
        }
    }

    /// Takes the first `count` bytes from `buffer`. Content without chunks goes to `content` at once, all else to `text`.
    func take(_ count: Int, from buffer: ByteBuffer) {
        if !text.isEmpty || !moveContent(count, from: buffer) {
            text.append(buffer.readable.extracting(first: count))
            buffer.consume(count)
        }
    }

    /// Reads on in `text`, behind the head.
    func read() -> Part {
        let text = text
        switch stage {
        case .chunked: return readChunks()
        case .complete where !text.isEmpty: return .fault
        case .head, .complete: return .needsMore
        case .length, .untilEnd, .raw:
            guard !text.isEmpty else { return .needsMore }
            return moveContent(text.count, from: text) ? .content : .fault
        }
    }

    /// Moves bytes to `content`.
    /// - Returns: false if they are not content, or have chunks, or are more than the content has. They stay then.
    private func moveContent(_ count: Int, from buffer: ByteBuffer) -> Bool {
        switch stage {
        case .untilEnd, .raw: break
        case .length where count <= rest:
            rest -= count
            if rest == 0 { stage = .complete }
        case .length, .head, .chunked, .complete: return false
        }
        let content = content
        if buffer === text, content.isEmpty {
            content.swapContents(with: buffer)
        } else {
            content.append(buffer.readable.extracting(first: count))
            buffer.consume(count)
        }
        return true
    }

    /// The writer has ended the text.
    /// - Returns: whether the message is whole.
    func end() -> Bool {
        switch stage {
        case .untilEnd, .raw:
            stage = .complete
            return true
        case .complete: return true
        case .head, .length, .chunked: return false
        }
    }

    private func readChunks() -> Part {
        let text = text
        let content = content
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
                    let lines = trailers ?? ByteBuffer(capacity: 64)
                    trailers = lines
                    lines.append(bytes.extracting(range))
                    offset = range.upperBound
                case .end(let consumed):
                    text.consume(consumed)
                    guard text.isEmpty else { return .fault }
                    stage = .complete
                    return .end
                }
            }
        } catch { return .fault }
    }
}
