import Bytes

/// The fields of a head in order, as offsets. Emptied, it keeps its memory, so a kept connection allocates nothing for
/// its second message. A class, since many functions get it and only its head changes it.
public final class FieldTable {
    private let names = KnownField.names
    private var lines: FieldLines
    /// Whether a head that repeats the previous one is recognised.
    private let remembers: Bool
    /// Whether a `Connection` option removed any field.
    public private(set) var hasNominated = false

    init(limits: Limits, remembers: Bool = false) {
        lines = FieldLines(most: limits.fields)
        self.remembers = remembers
    }

    public var count: Int { lines.count }
    /// The known fields that occur.
    public var present: FieldSet { FieldSet(rawValue: lines.present) }
    /// The known fields that occur on more than one line.
    public var repeated: FieldSet { FieldSet(rawValue: lines.repeated) }

    /// The first line of that field.
    @inline(__always)
    public func first(_ name: KnownField) -> Field? {
        firstIndex(of: name).map { self[$0] }
    }

    /// The first line with that name; `lowercaseName` is in lower case.
    public func first(named lowercaseName: StaticString, in bytes: Span<UInt8>) -> Field? {
        first { bytes.extracting($0.name).equalsIgnoringCase(lowercaseName) }
    }

    /// Withholds the lines with that name, like those that a `Connection` option names.
    public func withhold(_ lowercaseName: StaticString, in bytes: Span<UInt8>) {
        for index in 0..<count where bytes.extracting(lines[index].name).equalsIgnoringCase(lowercaseName) {
            withhold(at: index)
        }
    }

    /// Withholds the lines whose name an application reads as that one: in any case, and with `_` for `-`, as CGI (RFC
    /// 3875 section 4.1.18) and its successors read names.
    public func withhold(named name: Span<UInt8>, in bytes: Span<UInt8>) {
        for index in 0..<count where Self.isSameVariable(bytes.extracting(lines[index].name), name) {
            withhold(at: index)
        }
    }

    /// Whether an application may read a line under that name, as `withhold(named:in:)` compares names.
    /// - Parameter exception: the index of a line that does not count; nil if all count.
    public func hasVariable(_ name: Span<UInt8>, in bytes: Span<UInt8>, except exception: Int? = nil) -> Bool {
        indices.contains { $0 != exception && Self.isSameVariable(bytes.extracting(self[$0].name), name) }
    }

    /// Whether the lines repeat those of an earlier head, which had no placeholder.
    public var haveNoPlaceholder: Bool { count > 0 && lines.isNoted }

    /// Notes that the lines have no placeholder.
    public func noteNoPlaceholder() { lines.note() }

    private static func isSameVariable(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
        guard one.count == other.count else { return false }
        let letter = { (byte: UInt8) in byte == UInt8(ascii: "_") ? UInt8(ascii: "-") : byte.asciiLowercased }
        for index in 0..<one.count where letter(one[index]) != letter(other[index]) { return false }
        return true
    }

    /// Withholds that line.
    public func withhold(at index: Int) {
        hasNominated = true
        lines.mark(index)
    }

    @inline(__always)
    public func firstIndex(of name: KnownField) -> Int? {
        present.contains(name) ? lines.firstIndex(from: 0, of: FieldSet(name).rawValue) : nil
    }

    /// The next line of that field after `index`, which is one.
    public func index(of name: KnownField, after index: Int) -> Int? {
        guard repeated.contains(name) else { return nil }
        let next = lines.firstIndex(from: index + 1, of: FieldSet(name).rawValue)
        return next < count ? next : nil
    }
}

extension FieldTable: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }

    public subscript(index: Int) -> Field {
        Field(lines[index])
    }
}

extension FieldTable {
    func removeAll() {
        lines.removeAll()
        hasNominated = false
    }

    /// Restores all lines of the head, if from `start` on it repeats the previous one.
    /// - Returns: the end of the head; nil if it must be parsed.
    func recall(_ bytes: Span<UInt8>, from start: Int, limits: Limits) -> Int? {
        remembers ? lines.recall(bytes, from: start, limit: limits.head) : nil
    }

    /// Whether the current lines are those that `recall` restored.
    var areRecalled: Bool { lines.areRecalled }

    /// Remembers the current lines as the whole head from `start` to `end`.
    func remember(_ bytes: Span<UInt8>, from start: Int, to end: Int) {
        if remembers { lines.remember(bytes, in: start..<end) }
    }

    /// Reads the complete and valid field lines from `start`, within the limits. Returns the start of the first part
    /// that is not such a line.
    func readLines(_ bytes: Span<UInt8>, from start: Int, limits: Limits) -> Int {
        lines.read(bytes, from: start, limit: limits.head, recognising: names)
    }

    /// The start of the first line; 0 without lines.
    var start: Int { count > 0 ? lines[0].line.lowerBound : 0 }
    /// The end of the last line; 0 without lines.
    var end: Int { count > 0 ? lines[count &- 1].line.upperBound : 0 }

    /// The index of the first line at or after `index` that is in `dropping` or nominated; `count` if none.
    func firstDropped(from index: Int, dropping: FieldSet) -> Int {
        lines.firstIndex(from: index, markedOr: dropping.rawValue)
    }

    /// Marks every line with the name in `token`, whose bytes are all token bytes.
    func nominate(_ token: Range<Int>, in bytes: Span<UInt8>) {
        let known = KnownField(bytes, in: token)
        if known != .other, !present.contains(known) { return }
        for index in 0..<count where lines[index].ordinal == known.rawValue {
            if known == .other {
                let name = bytes.extracting(lines[index].name)
                guard name.equalsIgnoringCase(bytes.extracting(token)) else { continue }
            }
            hasNominated = true
            lines.mark(index)
        }
    }
}

/// One field line, as offsets from the start of its head.
public struct Field: Sendable {
    private let parts: FieldLines.Line

    public var known: KnownField { KnownField(rawValue: parts.ordinal) ?? .other }
    /// Whether a `Connection` option names the field, so that it ends at this hop.
    public var isNominated: Bool { parts.isMarked }
    /// The line with its line end.
    public var line: Range<Int> { parts.line }
    public var name: Range<Int> { parts.name }
    /// The value without white space at either end; may be empty.
    public var value: Range<Int> { parts.value }

    init(_ parts: FieldLines.Line) { self.parts = parts }

    /// Reads the line whose text is `line`, without control characters; its line end follows.
    public init(_ bytes: Span<UInt8>, line: Range<Int>) throws(Defect) {
        var lines = FieldLines(most: 1)
        let end = lines.read(bytes, from: line.lowerBound, limit: bytes.count, recognising: KnownField.names)
        if end == line.lowerBound { throw Self.defect(bytes, line: line) }
        parts = lines[0]
    }

    /// The reason why the line is invalid (RFC 9112 section 5.1: white space before the colon was used to smuggle
    /// requests).
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
