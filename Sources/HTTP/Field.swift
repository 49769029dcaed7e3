import Bytes

/// One field line, as offsets from the start of its head.
public struct Field: Sendable {
    public let known: KnownField
    /// A `Connection` option names it: it ends at this hop.
    public internal(set) var isNominated = false
    private let start: UInt32
    private let nameEnd: UInt32
    private let valueStart: UInt32
    private let valueEnd: UInt32
    private let end: UInt32

    /// The whole line with its line end.
    public var line: Range<Int> { Int(start)..<Int(end) }
    public var name: Range<Int> { Int(start)..<Int(nameEnd) }
    /// Without white space at either end. May be empty.
    public var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
}

extension Field {
    /// The line that begins at `start`; nil unless it is a field line and there to its end.
    @inline(__always)
    init?(wholeLineAt start: Int, of bytes: Span<UInt8>) {
        let nameEnd = bytes.endOfToken(in: start..<bytes.count)
        guard nameEnd > start, nameEnd < bytes.count, bytes[nameEnd] == .colon else { return nil }
        let end = bytes.firstControl(from: nameEnd &+ 1)
        guard end &+ 1 < bytes.count, bytes[end] == .carriageReturn, bytes[end &+ 1] == .lineFeed else { return nil }
        self.init(bytes, line: start..<end, nameEnd: nameEnd)
    }

    /// Reads the line whose text is `line`: without its line end, and free of control characters.
    init(_ bytes: Span<UInt8>, line: Range<Int>) throws(Defect) {
        let nameEnd = bytes.endOfToken(in: line)
        guard nameEnd > line.lowerBound, nameEnd < line.upperBound, bytes[nameEnd] == .colon else {
            throw Self.defect(bytes, line: line, nameEnd: nameEnd)
        }
        self.init(bytes, line: line, nameEnd: nameEnd)
    }

    @inline(__always)
    private init(_ bytes: Span<UInt8>, line: Range<Int>, nameEnd: Int) {
        let value = Self.trimmed(bytes, nameEnd &+ 1..<line.upperBound)
        known = KnownField(bytes, in: line.lowerBound..<nameEnd)
        start = UInt32(truncatingIfNeeded: line.lowerBound)
        self.nameEnd = UInt32(truncatingIfNeeded: nameEnd)
        valueStart = UInt32(truncatingIfNeeded: value.lowerBound)
        valueEnd = UInt32(truncatingIfNeeded: value.upperBound)
        end = UInt32(truncatingIfNeeded: line.upperBound &+ 2)
    }

    /// The usual value has one space before and none behind.
    @inline(__always)
    private static func trimmed(_ bytes: Span<UInt8>, _ value: Range<Int>) -> Range<Int> {
        guard value.count > 1, bytes[value.lowerBound] == .space, bytes[value.lowerBound &+ 1] > .space,
            bytes[value.upperBound &- 1] > .space
        else { return bytes.trimmingBlanks(value) }
        return value.lowerBound &+ 1..<value.upperBound
    }

    /// Why the line is none (RFC 9112 section 5.1: white space before the colon was used to smuggle requests).
    private static func defect(_ bytes: Span<UInt8>, line: Range<Int>, nameEnd: Int) -> Defect {
        if nameEnd == line.upperBound { return .missingColon }
        if nameEnd == line.lowerBound { return bytes[nameEnd].isBlank ? .foldedLine : .malformedFieldName }
        guard bytes[nameEnd].isBlank else { return .malformedFieldName }
        var offset = nameEnd
        while offset < line.upperBound, bytes[offset].isBlank { offset += 1 }
        return offset < line.upperBound && bytes[offset] == .colon ? .blankBeforeColon : .malformedFieldName
    }
}
