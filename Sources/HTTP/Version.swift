import Bytes

/// The protocol version a message was sent with, as far as it changes what the message means. A higher minor version
/// counts as 1.1 (RFC 9110 section 2.5); another major version is refused.
public enum Version: UInt8, Sendable, Comparable {
    case http10
    case http11

    public static func < (left: Version, right: Version) -> Bool { left.rawValue < right.rawValue }
}

extension Version {
    /// Reads `HTTP/` DIGIT `.` DIGIT (RFC 9112 section 2.3), eight bytes from `start`.
    init(_ bytes: Span<UInt8>, at start: Int) throws(Defect) {
        if bytes.holds("HTTP/1.1", at: start) {
            self = .http11
            return
        }
        guard bytes.holds("HTTP/", at: start), start + 8 <= bytes.count, bytes[start + 5].isDigit,
            bytes[start + 6] == UInt8(ascii: "."), bytes[start + 7].isDigit
        else { throw .malformedVersion }
        guard bytes[start + 5] == UInt8(ascii: "1") else { throw .unsupportedVersion }
        self = bytes[start + 7] == UInt8(ascii: "0") ? .http10 : .http11
    }
}
