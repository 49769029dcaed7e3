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
