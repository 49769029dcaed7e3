/// A text that equals only a text of the same bytes: the type for the names of users, realms, hosts and credentials.
///
/// Two `String`s are equal if Unicode calls them canonically equivalent: `é` as one scalar equals `e` with U+0301. For
/// a server they are two names.
public struct ExactText: Sendable, Hashable, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let text: String

    public init(_ text: String) { self.text = text }

    public init(stringLiteral text: String) { self.text = text }

    public var description: String { text }

    public static func == (left: ExactText, right: ExactText) -> Bool { left.text.hasSameBytes(as: right.text) }

    public static func < (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        let bytes = text.utf8Span.span
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(UInt8.max)
    }
}

extension String {
    /// Whether both have equal bytes. Allocates nothing.
    public func hasSameBytes(as other: String) -> Bool {
        // Most equal strings are copies of one string, or short. Then the two words of their representation are equal
        // too.
        let words = unsafeBitCast(self, to: (UInt64, UInt64).self)
        if words == unsafeBitCast(other, to: (UInt64, UInt64).self) { return true }
        return utf8.count == other.utf8.count && utf8Span.span.equals(other.utf8Span.span)
    }
}
