import Bytes

/// A file of the rule set with its lines, and the ranges in it that must never be shown.
public struct SourceFile: Sendable {
    /// The path as the user gave it. For an included file it is resolved against the including file.
    public let path: String
    public let bytes: [UInt8]
    /// The `include` that brought this file in; nil for the first.
    public let includedFrom: SourceRange?
    /// The ranges of bytes that may be secrets, ascending and separate. The renderer shows `***` in their place.
    var secrets: [Range<Int>] = []
    private let lineStarts: [Int]

    init(path: String, bytes: [UInt8], includedFrom: SourceRange?) {
        self.path = path
        self.bytes = bytes
        self.includedFrom = includedFrom
        lineStarts = [0] + bytes.indices.lazy.filter { bytes[$0] == .lineFeed }.map { $0 + 1 }
    }

    /// The position of a byte offset; an offset beyond the end counts as the end. Both numbers count from 1, the column in
    /// Unicode scalars.
    func position(of offset: Int) -> (line: Int, column: Int) {
        let offset = min(max(offset, 0), bytes.count)
        let line = line(of: offset)
        let scalars = bytes[lineStarts[line - 1]..<offset].count { $0 & 0xC0 != 0x80 }
        return (line, scalars + 1)
    }

    /// The bytes of the line that contains `offset`, without its line end.
    func line(around offset: Int) -> Range<Int> {
        let number = line(of: offset)
        let start = lineStarts[number - 1]
        var end = number < lineStarts.count ? lineStarts[number] - 1 : bytes.count
        if end > start, bytes[end - 1] == .carriageReturn { end -= 1 }
        return start..<end
    }

    /// The secrets that overlap a range.
    func secrets(in range: Range<Int>) -> ArraySlice<Range<Int>> {
        secrets.drop { $0.upperBound <= range.lowerBound }.prefix { $0.lowerBound < range.upperBound }
    }

    /// Resolves a path in this file: absolute, or relative to the file's own directory.
    func resolve(_ target: String) -> String {
        guard !target.hasPrefix("/"), let slash = path.utf8.lastIndex(of: .slash) else { return target }
        return String(path[...slash]) + target
    }

    /// The offset of a line's first byte, by its number; that of the nearest line there is.
    func start(ofLine number: Int) -> Int { lineStarts[min(max(number, 1), lineStarts.count) - 1] }

    /// The number of the line that contains `offset`: the last that starts at or before it.
    func line(of offset: Int) -> Int {
        var lower = 0
        var upper = lineStarts.count
        while upper - lower > 1 {
            let middle = (lower + upper) / 2
            if lineStarts[middle] <= offset { lower = middle } else { upper = middle }
        }
        return lower + 1
    }
}
