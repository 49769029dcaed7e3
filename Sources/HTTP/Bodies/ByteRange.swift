import Bytes

/// The part of a representation that a `Range` field requests (RFC 9110 section 14.2).
public enum ByteRange: Equatable, Sendable {
    /// The whole representation: the field is not understood, or requests several parts.
    case whole
    /// One part, not empty.
    case part(Range<Int>)
    /// A part outside the representation.
    case none

    /// - Parameter size: the size of the representation in bytes.
    public init(_ field: String, of size: Int) {
        self = .whole
        guard let equals = field.firstIndex(of: "="), field[..<equals].lowercased() == "bytes" else { return }
        let ends = field[field.index(after: equals)...].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy(\.isDigit) }) else { return }
        switch (Int(ends[0]), Int(ends[1])) {
        case (let first?, let last?) where first <= last:
            self = first < size ? .part(first..<min(last, size - 1) + 1) : .none
        case (let first?, nil) where ends[1].isEmpty: self = first < size ? .part(first..<size) : .none
        case (nil, let count?) where ends[0].isEmpty:
            self = count > 0 && size > 0 ? .part(max(0, size - count)..<size) : .none
        default: return
        }
    }
}
