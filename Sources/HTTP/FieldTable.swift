import Bytes

/// The fields of a head in the order they came, as offsets. It keeps its room when emptied, so a kept connection
/// allocates nothing for its second message. A class, since it is handed about and only its head changes it.
public final class FieldTable {
    /// The first `count` of these are the head's; what is behind them is room.
    private var lines: [FieldLine] = []
    private var names: [KnownField] = []
    private var nominated: [Bool] = []
    public private(set) var count = 0
    /// The known fields that occur.
    public private(set) var present: FieldSet = []
    /// The known fields that occur on more than one line.
    public private(set) var repeated: FieldSet = []
    /// Whether a `Connection` option took any field out.
    public private(set) var hasNominated = false
    /// Where each field of `present` occurs first, by its raw value.
    private var firstIndices = InlineArray<64, UInt32>(repeating: 0)

    init() {}

    /// The first line of that field.
    public func first(_ name: KnownField) -> Field? {
        firstIndex(of: name).map { self[$0] }
    }

    /// The first line with that name; `lowercaseName` is lower case.
    public func first(named lowercaseName: StaticString, in bytes: Span<UInt8>) -> Field? {
        first { bytes.extracting($0.name).equalsIgnoringCase(lowercaseName) }
    }

    public func firstIndex(of name: KnownField) -> Int? {
        present.contains(name) ? Int(firstIndices[Int(name.rawValue)]) : nil
    }

    /// The next line of that field behind `index`, which is one.
    public func index(of name: KnownField, after index: Int) -> Int? {
        guard repeated.contains(name) else { return nil }
        return names[..<count].suffix(from: index + 1).firstIndex(of: name)
    }
}

extension FieldTable: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }

    public subscript(index: Int) -> Field {
        precondition(index < count, "index behind the last field")
        return Field(known: names[index], isNominated: hasNominated && nominated[index], parts: lines[index])
    }
}

extension FieldTable {
    func removeAll() {
        count = 0
        present = []
        repeated = []
        hasNominated = false
    }

    /// Takes the field lines that stand whole and faultless from `start`, within the limits. Returns where the first
    /// thing begins that is none.
    func readLines(_ bytes: Span<UInt8>, from start: Int, limits: Limits) -> Int {
        var next = start
        while count < limits.fields {
            if count == lines.count { grow(to: limits.fields) }
            let filled = bytes.fieldLines(from: next, limit: limits.head, into: &lines, first: count)
            guard filled > count else { break }
            while count < filled { take(KnownField(bytes, in: lines[count].name)) }
            next = lines[count &- 1].line.upperBound
            if count < lines.count { break }
        }
        return next
    }

    /// The first line at or after `index` that is in `dropping` or nominated; `count` when there is none.
    func firstDropped(from index: Int, dropping: FieldSet) -> Int {
        var index = index
        while index < count, !dropping.contains(names[index]), !hasNominated || !nominated[index] { index &+= 1 }
        return index
    }

    /// Marks every line whose name stands in `token`, which holds token bytes only.
    func nominate(_ token: Range<Int>, in bytes: Span<UInt8>) {
        let known = KnownField(bytes, in: token)
        if known != .other, !present.contains(known) { return }
        for index in 0..<count where names[index] == known {
            if known == .other {
                let name = bytes.extracting(lines[index].name)
                guard name.equalsIgnoringCase(bytes.extracting(token)) else { continue }
            }
            if !hasNominated { for place in 0..<count { nominated[place] = false } }
            hasNominated = true
            nominated[index] = true
        }
    }

    /// Counts the line that stands at `count` already.
    @inline(__always)
    private func take(_ name: KnownField) {
        names[count] = name
        if present.contains(name) {
            repeated.insert(name)
        } else if name != .other {
            present.insert(name)
            firstIndices[Int(name.rawValue)] = UInt32(truncatingIfNeeded: count)
        }
        count &+= 1
    }

    /// Room for 16 lines, which is what most heads have, then twice as many.
    private func grow(to limit: Int) {
        let room = Swift.min(Swift.max(16, lines.count * 2), limit)
        let more = room - lines.count
        lines.append(contentsOf: repeatElement(FieldLine(), count: more))
        names.append(contentsOf: repeatElement(.other, count: more))
        nominated.append(contentsOf: repeatElement(false, count: more))
    }
}
