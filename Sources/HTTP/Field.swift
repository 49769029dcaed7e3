import Bytes

/// One field line, as offsets from the start of its head.
public struct Field: Sendable {
    public let known: KnownField
    /// A `Connection` option names it: it ends at this hop.
    public let isNominated: Bool
    let parts: FieldLine

    /// The whole line with its line end.
    public var line: Range<Int> { parts.line }
    public var name: Range<Int> { parts.name }
    /// Without white space at either end. May be empty.
    public var value: Range<Int> { parts.value }
}

extension Field {
    /// Reads the line whose text is `line`, free of control characters; its line end stands behind it.
    init(_ bytes: Span<UInt8>, line: Range<Int>) throws(Defect) {
        guard let parts = bytes.fieldLine(at: line.lowerBound) else { throw Self.defect(bytes, line: line) }
        self.parts = parts
        known = KnownField(bytes, in: parts.name)
        isNominated = false
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
