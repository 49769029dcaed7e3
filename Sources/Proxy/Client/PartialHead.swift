import Bytes
import HTTP
import IO
import Transport

/// The beginning of a request's head that did not arrive in one piece.
///
/// It is stored apart from an exchange, whose buffers are large, and needs no task: a client that sends its head slowly
/// costs little more than the bytes it has sent. They are parsed again when the end of a head arrives, or when they
/// have doubled. So an error is found early, and no byte is read more than a few times.
final class PartialHead {
    let bytes: ByteBuffer
    /// The time when the first byte of the request was seen.
    let startedAt: LoopInstant
    /// The numbers of bytes at which a start line without its end, and a head without its end, are too long.
    private let milestones: (startLine: Int, head: Int)
    /// The position up to which the end of the head was searched for.
    private var searched = 0
    /// The number of bytes at which they are parsed again in any case.
    private var nextParsing: Int

    private static let leastCapacity = 512
    private static let leastParsed = 64
    /// The bytes beyond a limit that are allowed: empty lines before the start line, and the end of the head.
    private static let tolerance = 16

    /// - Parameters:
    ///   - beginning: the bytes, parsed already, which are no complete head.
    ///   - limits: the limits of that parsing.
    init(_ beginning: Span<UInt8>, startedAt: LoopInstant, limits: Limits) {
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

    /// Whether to parse the bytes: the head may be complete, or invalid.
    var isDue: Bool { bytes.count >= nextParsing || holdsEnd() }

    /// Records that the bytes were parsed and are still no complete head.
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
