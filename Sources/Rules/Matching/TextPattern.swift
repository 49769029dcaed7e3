/// A text in which `*` matches any characters, also none. Case matters: realms and user names are compared as they are
/// (RFC 9110 section 11.5).
public struct TextPattern: Hashable, Sendable, CustomStringConvertible {
    public let text: String
    private let bytes: [UInt8]

    public init(_ text: String) {
        self.text = text
        bytes = Array(text.utf8)
    }

    /// Whether the text matches. Takes at most pattern × text steps, and allocates nothing.
    public func matches(_ text: Span<UInt8>) -> Bool {
        var at = 0
        var inPattern = 0
        var resume: (at: Int, inPattern: Int)?
        while at < text.count {
            if inPattern < bytes.count, bytes[inPattern] == Self.star {
                inPattern += 1
                resume = (at, inPattern)
            } else if inPattern < bytes.count, bytes[inPattern] == text[at] {
                at += 1
                inPattern += 1
            } else if let last = resume {
                at = last.at + 1
                inPattern = last.inPattern
                resume = (at, inPattern)
            } else {
                return false
            }
        }
        while inPattern < bytes.count, bytes[inPattern] == Self.star { inPattern += 1 }
        return inPattern == bytes.count
    }

    public func matches(_ text: String) -> Bool { matches(text.utf8Span.span) }

    var isAny: Bool { text == "*" }

    public var description: String { text }

    private static let star = UInt8(ascii: "*")
}
