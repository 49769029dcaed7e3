import Bytes

/// The elements of a comma-separated list (RFC 9110 section 5.6.1) that holds no quoted strings, one by one. Empty
/// elements are passed over.
struct ListReader {
    private var rest: Range<Int>

    init(_ value: Range<Int>) { rest = value }

    mutating func next(_ bytes: Span<UInt8>) -> Range<Int>? {
        while !rest.isEmpty {
            var end = rest.lowerBound
            while end < rest.upperBound, bytes[end] != .comma { end &+= 1 }
            let element = bytes.trimmingBlanks(rest.lowerBound..<end)
            rest = min(end &+ 1, rest.upperBound)..<rest.upperBound
            if !element.isEmpty { return element }
        }
        return nil
    }
}
