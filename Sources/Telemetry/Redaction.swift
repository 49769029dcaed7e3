import Bytes

/// Keeps credentials out of what is written about a request.
public enum Redaction {
    /// The part of an authority behind its user information (RFC 3986 section 3.2.1): all after the last `@`.
    public static func withoutUserInformation(_ authority: Span<UInt8>) -> Range<Int> {
        var start = 0
        while let at = authority.firstIndex(of: UInt8(ascii: "@"), from: start) { start = at + 1 }
        return start..<authority.count
    }
}
