/// Where the parts of a field line stand (RFC 9112 section 5): `name` `:` `value` CR LF, blanks around the value.
public struct FieldLine: Sendable {
    private let start: UInt32
    private let nameEnd: UInt32
    private let valueStart: UInt32
    private let valueEnd: UInt32
    private let end: UInt32

    /// A place to be filled.
    public init() {
        self.init(start: 0, nameEnd: 0, valueStart: 0, valueEnd: 0, end: 0)
    }

    init(start: Int, nameEnd: Int, valueStart: Int, valueEnd: Int, end: Int) {
        self.start = UInt32(truncatingIfNeeded: start)
        self.nameEnd = UInt32(truncatingIfNeeded: nameEnd)
        self.valueStart = UInt32(truncatingIfNeeded: valueStart)
        self.valueEnd = UInt32(truncatingIfNeeded: valueEnd)
        self.end = UInt32(truncatingIfNeeded: end)
    }

    /// The whole line with its line end.
    public var line: Range<Int> { Int(start)..<Int(end) }
    public var name: Range<Int> { Int(start)..<Int(nameEnd) }
    /// Without blanks at either end. May be empty.
    public var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
}
