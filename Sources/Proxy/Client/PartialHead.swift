import Bytes
import HTTP
import IO
import Transport

/// The beginning of a request's head that did not come in one piece.
///
/// It is held apart from an exchange, whose buffers are large, and needs no task: a client that sends its head slowly
/// costs little more than the bytes that it has sent. They are parsed again when the end of a head is there, or twice as
/// many as before, so that a fault is found early and no byte is read more than a few times.
final class PartialHead {
    let bytes: ByteBuffer
    /// When the first byte of the request was seen, on the loop's clock in nanoseconds.
    let startedAt: UInt64
    /// At these numbers of bytes a head without a line's end, and without its own, is too long.
    private let milestones: (startLine: Int, head: Int)
    /// Before here no line ends that the head could end with.
    private var searched = 0
    /// At this many bytes they are parsed, whatever they are.
    private var nextParsing: Int

    private static let leastCapacity = 512
    private static let leastParsed = 64
    /// Bytes that may stand before a line and behind its limit: empty lines, and its own end.
    private static let tolerance = 16

    /// - Parameters:
    ///   - beginning: was parsed, and is no whole head.
    ///   - limits: by which it was parsed.
    init(_ beginning: Span<UInt8>, startedAt: UInt64, limits: Limits) {
        self.startedAt = startedAt
        milestones = (limits.startLine + Self.tolerance, limits.head + Self.tolerance)
        bytes = ByteBuffer(capacity: max(Self.leastCapacity, beginning.count))
        bytes.append(beginning)
        nextParsing = 0
        noteParsing()
    }

    /// Reads once.
    func read(from stream: ByteStream) -> Transfer {
        if bytes.writableCount == 0 { bytes.reserve(1) }
        return stream.tryRead(into: bytes)
    }

    /// Whether it is time to parse the bytes: the head may be whole, or wrong.
    var isDue: Bool { bytes.count >= nextParsing || holdsEnd() }

    /// The bytes were parsed, and are still no whole head.
    func noteParsing() {
        searched = max(0, bytes.count - 2)
        nextParsing = max(bytes.count * 2, Self.leastParsed)
        for milestone in [milestones.startLine, milestones.head] where bytes.count < milestone {
            nextParsing = min(nextParsing, milestone)
        }
        if bytes.count >= milestones.head { nextParsing = bytes.count + 1 }
    }

    private func holdsEnd() -> Bool {
        let buffer = bytes
        let bytes = buffer.readable
        while let lineFeed = bytes.firstIndex(of: .lineFeed, from: searched) {
            searched = lineFeed
            guard lineFeed + 1 < bytes.count else { return false }
            if bytes[lineFeed + 1] == .lineFeed { return true }
            if bytes[lineFeed + 1] == .carriageReturn {
                guard lineFeed + 2 < bytes.count else { return false }
                if bytes[lineFeed + 2] == .lineFeed { return true }
            }
            searched = lineFeed + 1
        }
        searched = bytes.count
        return false
    }
}
