/// A text that is equal only to a text of the same bytes: the type of the names of users, realms, hosts and credentials.
///
/// Two `String`s are equal where Unicode calls them canonically equivalent: `é` as one scalar equals `e` with U+0301. To a
/// server they are two names.
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
    /// Whether both are the same bytes. Allocates nothing.
    public func hasSameBytes(as other: String) -> Bool {
        // Most that are equal are copies of one string, or short: the words that represent them are equal, too.
        let words = unsafeBitCast(self, to: (UInt64, UInt64).self)
        if words == unsafeBitCast(other, to: (UInt64, UInt64).self) { return true }
        return utf8.count == other.utf8.count && utf8Span.span.equals(other.utf8Span.span)
    }
}
