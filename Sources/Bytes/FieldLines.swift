import CScan

/// The field lines of a head, in the order they came. It keeps its room when emptied.
public struct FieldLines: ~Copyable {
    private let most: Int
    private var list = scan_lines()

    /// Takes at most that many lines.
    public init(most: Int) {
        self.most = most
    }

    deinit { list.lines?.deallocate() }

    public var count: Int { list.filled }
    /// The names that occur, a bit each: that of its ordinal.
    public var present: UInt64 { list.present }
    /// The names that occur on more than one line.
    public var repeated: UInt64 { list.repeated }

    public subscript(index: Int) -> FieldLine { FieldLine(parts: self[placeOf: index].pointee) }

    public mutating func removeAll() {
        list.filled = 0
        list.present = 0
        list.repeated = 0
    }

    /// Adds the lines that stand whole and faultless one behind the other from `start`, until it is full or one would
    /// end behind `limit`. Returns where the first thing begins that was not taken. Less than 4 GiB of bytes.
    public mutating func read(
        _ bytes: Span<UInt8>, from start: Int, limit: Int, recognising names: borrowing NameTable
    ) -> Int {
        precondition(start >= 0 && start <= bytes.count && limit >= 0, "offset outside the span")
        var next = start
        repeat {
            if list.filled == list.room {
                if list.filled >= most { break }
                grow()
            }
            next = fill(bytes, from: next, limit: limit, recognising: names)
        } while list.filled == list.room
        return next
    }

    /// The first line at or after `index` whose name is in `ordinals`, a bit each; `count` when there is none.
    public func firstIndex(from index: Int, of ordinals: UInt64) -> Int {
        precondition(index >= 0, "index before the first line")
        guard let lines = list.lines else { return index }
        var index = index
        while index < list.filled, !lines[index].isOne(of: ordinals) { index &+= 1 }
        return index
    }

    /// The same, or that is marked.
    public func firstIndex(from index: Int, markedOr ordinals: UInt64) -> Int {
        precondition(index >= 0, "index before the first line")
        guard let lines = list.lines else { return index }
        var index = index
        while index < list.filled, !lines[index].isOne(of: ordinals), !lines[index].marked { index &+= 1 }
        return index
    }

    public func mark(_ index: Int) { self[placeOf: index].pointee.marked = true }

    private subscript(placeOf index: Int) -> UnsafeMutablePointer<scan_line> {
        precondition(index >= 0 && index < list.filled, "index behind the last line")
        return list.lines.unsafelyUnwrapped + index
    }

    private mutating func fill(
        _ bytes: Span<UInt8>, from start: Int, limit: Int, recognising names: borrowing NameTable
    ) -> Int {
        names.withUnsafeNames { names in
            bytes.withUnsafeBufferPointer {
                scan_read_lines(&list, names, $0.baseAddress, start, $0.count, limit)
            }
        }
    }

    /// Room for 16 lines, which is what most heads have, then twice as many.
    private mutating func grow() {
        let room = min(max(16, list.room * 2), most)
        let larger = UnsafeMutablePointer<scan_line>.allocate(capacity: room)
        if let lines = list.lines {
            larger.initialize(from: lines, count: list.filled)
            lines.deallocate()
        }
        (list.lines, list.room) = (larger, room)
    }
}

extension scan_line {
    fileprivate func isOne(of ordinals: UInt64) -> Bool { ordinals &>> UInt64(row) & 1 != 0 }
}

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

/// Names that are recognised in either case by one comparison: length and first letter tell which it could be.
public struct NameTable: Sendable {
    /// As `scan_name_slot` describes it.
    private let bytes: [UInt8]

    /// Lower-case names of letters, digits and hyphens, at most 63 of at most 31 bytes, no two of which have both
    /// length and first letter in common.
    public init(_ names: [String]) {
        let row = Int(SCAN_NAME_ROW)
        var bytes = [UInt8](repeating: 0, count: Int(SCAN_NAME_SLOTS) + row)
        precondition(names.count < 64, "too many names")
        for (index, name) in names.enumerated() {
            let name = Array(name.utf8)
            precondition(!name.isEmpty && name.count < row, "a name is empty or too long")
            let slot = scan_name_slot(name[0], name.count)
            precondition(bytes[slot] == 0, "two names have length and first letter in common")
            bytes[slot] = UInt8(index + 1)
            bytes += name + [UInt8](repeating: 0, count: row - name.count)
        }
        self.bytes = bytes
    }

    /// Which name stands in `range`, all of it token bytes: 1 for the first, 0 for none.
    public func ordinal(of range: Range<Int>, in text: Span<UInt8>) -> UInt8 {
        precondition(range.lowerBound >= 0 && range.upperBound <= text.count, "range outside the span")
        return withUnsafeNames { names in
            text.withUnsafeBufferPointer {
                scan_recognise(names, $0.baseAddress, range.lowerBound, range.upperBound)
            }
        }
    }

    func withUnsafeNames<Result>(_ body: (UnsafePointer<UInt8>?) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { body($0.baseAddress) }
    }
}
