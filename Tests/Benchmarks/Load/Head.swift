import Bytes

/// The part of an HTTP/1.1 head that a load generator and its origin need. The project's own parser is under test here,
/// so it is not used.
struct Head {
    /// Bytes up to and including the empty line.
    let length: Int
    private let startLineEnd: Int

    /// Nil while the head is incomplete.
    init?(_ bytes: Span<UInt8>) {
        var lineStart = 0
        var firstEnd: Int?
        while let end = bytes.firstIndex(of: .lineFeed, from: lineStart) {
            if end <= lineStart + 1, let firstEnd {
                length = end + 1
                startLineEnd = firstEnd
                return
            }
            if firstEnd == nil { firstEnd = end }
            lineStart = end + 1
        }
        return nil
    }

    /// The word at `place` of the start line.
    func word(_ place: Int, of bytes: Span<UInt8>) -> Range<Int> {
        var start = 0
        for _ in 0..<place { start = (bytes.firstIndex(of: .space, in: start..<startLineEnd) ?? startLineEnd - 1) + 1 }
        let end = bytes.firstIndex(of: .space, in: start..<startLineEnd) ?? startLineEnd
        return start..<end
    }

    /// The value of the first field of that name, which is given in lower case.
    func value(of name: StaticString, in bytes: Span<UInt8>) -> Range<Int>? {
        let nameLength = name.utf8CodeUnitCount
        var lineStart = startLineEnd + 1
        while lineStart < length, let end = bytes.firstIndex(of: .lineFeed, in: lineStart..<length) {
            if end - lineStart > nameLength, bytes[lineStart + nameLength] == .colon,
                bytes.extracting(lineStart..<lineStart + nameLength).equalsIgnoringCase(name)
            {
                let last = end > lineStart && bytes[end - 1] == .carriageReturn ? end - 1 : end
                return bytes.trimmingBlanks(lineStart + nameLength + 1..<last)
            }
            lineStart = end + 1
        }
        return nil
    }

    /// The decimal number in `range`, of at most 12 digits.
    static func number(in range: Range<Int>, of bytes: Span<UInt8>) -> Int? {
        guard !range.isEmpty, range.count <= 12 else { return nil }
        var number = 0
        for place in range {
            guard bytes[place].isDigit else { return nil }
            number = number * 10 + Int(bytes[place] - 0x30)
        }
        return number
    }
}
