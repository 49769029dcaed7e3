import CScan

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
