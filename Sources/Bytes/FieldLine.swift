import CScan

/// Where the parts of a field line stand (RFC 9112 section 5): `name` `:` `value` CR LF, blanks around the value.
public struct FieldLine: Sendable {
    let parts: scan_line

    /// The whole line with its line end.
    public var line: Range<Int> { Self.range(parts.start, parts.end) }
    public var name: Range<Int> { Self.range(parts.start, parts.name_end) }
    /// Without blanks at either end. May be empty.
    public var value: Range<Int> { Self.range(parts.value_start, parts.value_end) }
    /// Which name of the table it is, from 1; 0 for none.
    public var ordinal: UInt8 { parts.row }
    public var isMarked: Bool { parts.marked }

    private static func range(_ start: UInt32, _ end: UInt32) -> Range<Int> {
        Range(uncheckedBounds: (Int(start), Int(end)))
    }
}
