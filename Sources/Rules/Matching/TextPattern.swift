import Bytes

/// A text in which `*` matches any characters, also none. Case matters: realms and user names are compared as they are
/// (RFC 9110 section 11.5).
public struct TextPattern: Hashable, Sendable, CustomStringConvertible {
    public let description: String
    private let bytes: [UInt8]

    public init(_ text: String) {
        description = text
        bytes = Array(text.utf8)
    }

    /// Whether the text matches. Allocates nothing.
    public func matches(_ text: Span<UInt8>) -> Bool { text.matches(pattern: bytes.span) }

    public func matches(_ text: String) -> Bool { matches(text.utf8Span.span) }

    var isAny: Bool { description == "*" }
}
