import Bytes

/// Finds the lines of a head as its bytes arrive. Each byte is scanned once. Bytes that no line may contain (RFC 9112
/// section 2.2) are refused: a line feed without carriage return, the reverse, any other control character.
struct LineReader {
    /// The start of the line being read.
    private(set) var start = 0
    /// The offset up to which no line end was found from `start` on.
    private(set) var scanned = 0

    /// Whether no byte of the line was scanned yet.
    var isAtStart: Bool { scanned == start }

    /// The text of the next complete line, without its line end; nil if more bytes are needed. The line stays the next
    /// one until `advance`.
    mutating func next(
        _ bytes: Span<UInt8>, limit: Int, or defect: Defect
    ) throws(Defect) -> Range<Int>? {
        let stop = bytes.firstControl(from: scanned)
        scanned = stop
        guard stop < bytes.count else {
            if stop > limit { throw defect }
            return nil
        }
        if stop &+ 2 > limit { throw defect }
        switch bytes[stop] {
        case .carriageReturn:
            guard stop &+ 1 < bytes.count else { return nil }
            if bytes[stop &+ 1] == .lineFeed { return start..<stop }
            throw .bareCarriageReturn
        case .lineFeed: throw .bareLineFeed
        default: throw .controlCharacter
        }
    }

    /// The next complete line, which may also end with a bare line feed: see `lineEnd(behind:in:)`.
    mutating func nextLenient(
        _ bytes: Span<UInt8>, limit: Int, or defect: Defect
    ) throws(Defect) -> Range<Int>? {
        do throws(Defect) { return try next(bytes, limit: limit, or: defect) } catch {
            guard scanned < bytes.count, bytes[scanned] == .lineFeed, scanned < limit else { throw error }
            return start..<scanned
        }
    }

    /// The end of the line end that follows `line`, a result of `nextLenient`.
    static func lineEnd(behind line: Range<Int>, in bytes: Span<UInt8>) -> Int {
        line.upperBound &+ (bytes[line.upperBound] == .lineFeed ? 1 : 2)
    }

    /// Skips `line`, a result of `next`.
    mutating func advance(over line: Range<Int>) {
        advance(to: line.upperBound &+ 2)
    }

    /// Continues with the line that begins at `next`.
    mutating func advance(to next: Int) {
        start = next
        scanned = next
    }
}

/// The elements of a comma-separated list (RFC 9110 section 5.6.1) without quoted strings, one by one. Empty elements
/// are skipped.
struct ListReader {
    private var rest: Range<Int>

    init(_ value: Range<Int>) { rest = value }

    mutating func next(_ bytes: Span<UInt8>) -> Range<Int>? {
        while !rest.isEmpty {
            var end = rest.lowerBound
            while end < rest.upperBound, bytes[end] != .comma { end &+= 1 }
            let element = bytes.trimmingBlanks(rest.lowerBound..<end)
            rest = min(end &+ 1, rest.upperBound)..<rest.upperBound
            if !element.isEmpty { return element }
        }
        return nil
    }
}
