import Bytes

/// One field line, as offsets from the start of its head.
public struct Field: Sendable {
    private let parts: FieldLine

    public var known: KnownField { KnownField(rawValue: parts.ordinal) ?? .other }
    /// A `Connection` option names it: it ends at this hop.
    public var isNominated: Bool { parts.isMarked }
    /// The whole line with its line end.
    public var line: Range<Int> { parts.line }
    public var name: Range<Int> { parts.name }
    /// Without white space at either end. May be empty.
    public var value: Range<Int> { parts.value }
}

extension Field {
    init(_ parts: FieldLine) { self.parts = parts }

    /// Reads the line whose text is `line`, free of control characters; its line end stands behind it.
    init(_ bytes: Span<UInt8>, line: Range<Int>) throws(Defect) {
        var lines = FieldLines(most: 1)
        let end = lines.read(bytes, from: line.lowerBound, limit: bytes.count, recognising: KnownField.names)
        if end == line.lowerBound { throw Self.defect(bytes, line: line) }
        parts = lines[0]
    }

    /// Why the line is none (RFC 9112 section 5.1: white space before the colon was used to smuggle requests).
    static func defect(_ bytes: Span<UInt8>, line: Range<Int>) -> Defect {
        let nameEnd = bytes.endOfToken(in: line)
        if nameEnd == line.upperBound { return .missingColon }
        if nameEnd == line.lowerBound { return bytes[nameEnd].isBlank ? .foldedLine : .malformedFieldName }
        guard bytes[nameEnd].isBlank else { return .malformedFieldName }
        var offset = nameEnd
        while offset < line.upperBound, bytes[offset].isBlank { offset += 1 }
        return offset < line.upperBound && bytes[offset] == .colon ? .blankBeforeColon : .malformedFieldName
    }
}
