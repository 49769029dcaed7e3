import CScan

/// The field lines of a head, in order. Emptied, it keeps its memory and, on demand, its lines: a client mostly repeats
/// the fields of its last request, which then need not be parsed again.
public struct FieldLines: ~Copyable {
    private let most: Int
    private var list = scan_lines()
    /// The distance of the lines from their positions in `list`.
    private var shift = 0
    /// The removed lines that are still in `list`, unmarked, and the start of the first one.
    private var known: (lines: scan_lines, start: Int, isNoted: Bool)?
    /// The bytes of these lines, and of the empty line after them.
    private let knownText = ByteBuffer(capacity: 64)

    /// The limit of a remembered head in bytes.
    private static let longestKnown = 2048

    /// Creates an empty list with a limit of lines.
    public init(most: Int) {
        self.most = most
    }

    deinit { list.lines?.deallocate() }

    public var count: Int { list.filled }
    /// The names that occur, as one bit for each ordinal.
    public var present: UInt64 { list.present }
    /// The names that occur on more than one line, as one bit for each ordinal.
    public var repeated: UInt64 { list.repeated }

    public subscript(index: Int) -> Line { Line(parts: self[placeOf: index].pointee, shift: shift) }

    public mutating func removeAll() {
        list.filled = 0
        list.present = 0
        list.repeated = 0
        shift = 0
        isRecalled = false
    }

    /// Remembers the current lines for `recall`. They must fill `range`, but for the empty line at its end.
    public mutating func remember(_ bytes: Span<UInt8>, in range: Range<Int>) {
        guard range.count <= Self.longestKnown else { return }
        knownText.clear()
        knownText.append(bytes.extracting(range))
        known = (list, range.lowerBound, false)
    }

    /// Whether the current lines are those of `recall`, and unmarked.
    public var areRecalled: Bool { known != nil && isRecalled }
    private var isRecalled = false

    /// Whether the caller has noted something about the current lines, in an earlier head that had the same ones.
    public var isNoted: Bool { known?.isNoted ?? false }

    /// Notes something about the current lines, which holds as long as they are repeated.
    public mutating func note() { known?.isNoted = true }

    /// Restores the lines that were there before `removeAll`, if exactly these are at `start`, followed by an empty
    /// line. The time does not depend on the position of a difference: the remembered lines may be another client's,
    /// with a secret.
    /// - Returns: the end of the empty line; nil for other lines.
    public mutating func recall(_ bytes: Span<UInt8>, from start: Int, limit: Int) -> Int? {
        guard let known, case let end = start &+ knownText.count, end <= min(limit, bytes.count),
            bytes.extracting(start..<end).equalsInFull(knownText.readable)
        else { return nil }
        list = known.lines
        shift = start &- known.start
        isRecalled = true
        return end
    }

    /// Adds the complete and valid lines from `start` on, until it is full or a line would end after `limit`. Returns
    /// the start of the first part that was not taken. `bytes` must be shorter than 4 GiB.
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

    /// The index of the first line at or after `index` whose name is in `ordinals`, one bit each; `count` if none.
    public func firstIndex(from index: Int, of ordinals: UInt64) -> Int {
        precondition(index >= 0, "index before the first line")
        guard let lines = list.lines else { return index }
        var index = index
        while index < list.filled, !lines[index].isOne(of: ordinals) { index &+= 1 }
        return index
    }

    /// The index of the first line at or after `index` that is marked, or whose name is in `ordinals`; `count` if none.
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

    /// Makes room for 16 lines, enough for most heads, then for twice as many.
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

extension FieldLines {
    /// The positions of the parts of a field line (RFC 9112 section 5): `name` `:` `value` CR LF, with blanks around
    /// the value.
    public struct Line: Sendable {
        let parts: scan_line
        let shift: Int

        /// The line with its line end.
        public var line: Range<Int> { range(parts.start, parts.end) }
        public var name: Range<Int> { range(parts.start, parts.name_end) }
        /// The value without blanks at either end; may be empty.
        public var value: Range<Int> { range(parts.value_start, parts.value_end) }
        /// The number of the name in the table, from 1; 0 if it is not there.
        public var ordinal: UInt8 { parts.row }
        public var isMarked: Bool { parts.marked }

        private func range(_ start: UInt32, _ end: UInt32) -> Range<Int> {
            Range(uncheckedBounds: (Int(start) &+ shift, Int(end) &+ shift))
        }
    }

    /// Names that are recognised in any case by one comparison: length and first letter determine the candidate.
    public struct NameTable: Sendable {
        /// The table in the form of `scan_name_slot`.
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

        /// The number of the name in `range`, whose bytes are all token bytes: 1 for the first name, 0 for others.
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
}
