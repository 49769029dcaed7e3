import CScan

/// The field lines of a head, in the order they came. It keeps its room when emptied, and on demand its lines: a client
/// mostly says the same about each of its requests, and what was found in it once need not be looked for again.
public struct FieldLines: ~Copyable {
    private let most: Int
    private var list = scan_lines()
    /// How far behind the places in `list` the lines stand.
    private var shift = 0
    /// The lines that may stand in `list` still, unmarked, though they were removed; and where the first one stood.
    private var known: (lines: scan_lines, start: Int)?
    /// All their bytes, and those of the empty line behind them.
    private let knownText = ByteBuffer(capacity: 64)

    /// Longer heads are not known again.
    private static let longestKnown = 2048

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

    public subscript(index: Int) -> FieldLine { FieldLine(parts: self[placeOf: index].pointee, shift: shift) }

    public mutating func removeAll() {
        list.filled = 0
        list.present = 0
        list.repeated = 0
        shift = 0
    }

    /// The lines that are there are all that stands in `range` but for the empty line at its end. From now on `recall` finds
    /// them.
    public mutating func remember(_ bytes: Span<UInt8>, in range: Range<Int>) {
        guard range.count <= Self.longestKnown else { return }
        knownText.clear()
        knownText.append(bytes.extracting(range))
        known = (list, range.lowerBound)
    }

    /// Takes the lines that were there before `removeAll`, if just they stand at `start` with an empty line behind them.
    /// It takes as long wherever they differ: they may be another client's, and hold a secret of his.
    /// - Returns: where the empty line ends; nil if they are others.
    public mutating func recall(_ bytes: Span<UInt8>, from start: Int, limit: Int) -> Int? {
        guard let known, case let end = start &+ knownText.count, end <= min(limit, bytes.count),
            bytes.extracting(start..<end).equalsInFull(knownText.readable)
        else { return nil }
        list = known.lines
        shift = start &- known.start
        return end
    }

    /// Adds the lines that stand whole and faultless one behind the other from `start`, until it is full or one would
    /// end behind `limit`. Returns where the first thing begins that was not taken. Less than 4 GiB of bytes.
    public mutating func read(
        _ bytes: Span<UInt8>, from start: Int, limit: Int, recognising names: borrowing NameTable
    ) -> Int {
        precondition(start >= 0 && start <= bytes.count && limit >= 0, "offset outside the span")
        precondition(shift == 0, "lines that were recalled are all there are")
        known = nil
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

    public mutating func mark(_ index: Int) {
        known = nil
        self[placeOf: index].pointee.marked = true
    }

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
    let shift: Int

    /// The whole line with its line end.
    public var line: Range<Int> { range(parts.start, parts.end) }
    public var name: Range<Int> { range(parts.start, parts.name_end) }
    /// Without blanks at either end. May be empty.
    public var value: Range<Int> { range(parts.value_start, parts.value_end) }
    /// Which name of the table it is, from 1; 0 for none.
    public var ordinal: UInt8 { parts.row }
    public var isMarked: Bool { parts.marked }

    private func range(_ start: UInt32, _ end: UInt32) -> Range<Int> {
        Range(uncheckedBounds: (Int(start) &+ shift, Int(end) &+ shift))
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
