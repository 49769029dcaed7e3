import Bytes

/// The fields of a head in the order they came, as offsets. It keeps its room when emptied, so a kept connection
/// allocates nothing for its second message. A class, since it is handed about and only its head changes it.
public final class FieldTable {
    private var fields: [Field] = []
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
        firstIndex(of: name).map { fields[$0] }
    }

    /// The first line with that name; `lowercaseName` is lower case.
    public func first(named lowercaseName: StaticString, in bytes: Span<UInt8>) -> Field? {
        for field in fields where bytes.extracting(field.name).equalsIgnoringCase(lowercaseName) { return field }
        return nil
    }

    public func firstIndex(of name: KnownField) -> Int? {
        present.contains(name) ? Int(firstIndices[Int(name.rawValue)]) : nil
    }

    /// The next line of that field behind `index`, which is one.
    public func index(of name: KnownField, after index: Int) -> Int? {
        guard repeated.contains(name) else { return nil }
        var next = index + 1
        while next < fields.count {
            if fields[next].known == name { return next }
            next += 1
        }
        return nil
    }

    func removeAll() {
        fields.removeAll(keepingCapacity: true)
        present = []
        repeated = []
        hasNominated = false
    }

    @inline(__always)
    func append(_ field: Field) {
        if field.known != .other { note(field.known, at: fields.count) }
        fields.append(field)
    }

    private func note(_ name: KnownField, at index: Int) {
        if present.contains(name) {
            repeated.insert(name)
        } else {
            present.insert(name)
            firstIndices[Int(name.rawValue)] = UInt32(truncatingIfNeeded: index)
        }
    }

    /// Marks every line whose name stands in `token`, which holds token bytes only.
    func nominate(_ token: Range<Int>, in bytes: Span<UInt8>) {
        let known = KnownField(bytes, in: token)
        if known != .other, !present.contains(known) { return }
        for index in fields.indices where fields[index].known == known {
            if known == .other {
                let name = bytes.extracting(fields[index].name)
                guard name.equalsIgnoringCase(bytes.extracting(token)) else { continue }
            }
            fields[index].isNominated = true
            hasNominated = true
        }
    }
}

extension FieldTable: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { fields.count }
    public subscript(index: Int) -> Field { fields[index] }
}
