import Bytes

/// Finds the lines of a head as its bytes come in. Each byte is looked at once, and what no line may hold (RFC 9112
/// section 2.2) is refused where it stands: a line feed without carriage return, the reverse, any other control.
struct LineReader {
    /// Where the line being read begins.
    private(set) var start = 0
    /// From `start` up to here there is no line end.
    private(set) var scanned = 0

    /// Whether nothing of the line has been looked at.
    var isAtStart: Bool { scanned == start }

    /// The text of the next whole line, without its line end; nil when more bytes are needed. The line stays the
    /// next one until `advance`.
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

    /// The same where a line may also end in a line feed alone; `lineEnd(behind:in:)` tells how it does.
    mutating func nextLenient(
        _ bytes: Span<UInt8>, limit: Int, or defect: Defect
    ) throws(Defect) -> Range<Int>? {
        do throws(Defect) { return try next(bytes, limit: limit, or: defect) } catch {
            guard scanned < bytes.count, bytes[scanned] == .lineFeed, scanned < limit else { throw error }
            return start..<scanned
        }
    }

    /// Where the line end ends that stands behind `line`, which `nextLenient` returned.
    static func lineEnd(behind line: Range<Int>, in bytes: Span<UInt8>) -> Int {
        line.upperBound &+ (bytes[line.upperBound] == .lineFeed ? 1 : 2)
    }

    /// Passes over `line`, which `next` returned.
    mutating func advance(over line: Range<Int>) {
        advance(to: line.upperBound &+ 2)
    }

    /// Goes on with the line that begins at `next`.
    mutating func advance(to next: Int) {
        start = next
        scanned = next
    }
}

/// The elements of a comma-separated list (RFC 9110 section 5.6.1) that holds no quoted strings, one by one. Empty
/// elements are passed over.
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
