import Bytes

/// The protocol that a client speaks on a connection, detected from its first bytes.
enum SpokenProtocol: Equatable {
    /// A ClientHello of TLS (RFC 8446 section 5.1), or of SSL 3 or later.
    case tls
    /// A request of HTTP/1.x.
    case http
    /// HTTP/2 without TLS: the preface of a client (RFC 9113 section 3.4).
    case http2
    /// Any other protocol, such as SSH or a mail protocol.
    case other

    /// The limit of a method in bytes; the longest registered method has 17.
    private static let longestMethod = 24

    /// The protocol that begins with these bytes; nil while they are too few to tell.
    static func told(by bytes: Span<UInt8>) -> SpokenProtocol? {
        guard !bytes.isEmpty else { return nil }
        return bytes[0] == 0x16 ? record(bytes) : requestLine(bytes)
    }

    /// Whether a handshake that begins with these bytes can start, because its first record is complete or it is known
    /// not to be TLS.
    static func hasFirstRecord(_ bytes: Span<UInt8>) -> Bool {
        guard told(by: bytes) == .tls else { return told(by: bytes) != nil }
        return bytes.count >= 5 + (Int(bytes[3]) << 8 | Int(bytes[4]))
    }

    /// Whether a handshake record of TLS begins with these bytes.
    static func beginsTLS(_ bytes: Span<UInt8>) -> Bool {
        bytes.count >= 3 && bytes[0] == 0x16 && bytes[1] == 0x03 && bytes[2] <= 0x04
    }

    /// Checks a handshake record: not empty, not longer than allowed, beginning with a ClientHello.
    private static func record(_ bytes: Span<UInt8>) -> SpokenProtocol? {
        if bytes.count > 1, bytes[1] != 3 { return .other }
        if bytes.count > 2, bytes[2] > 4 { return .other }
        if bytes.count > 4 {
            let length = Int(bytes[3]) << 8 | Int(bytes[4])
            guard (4...1 << 14).contains(length) else { return .other }
        }
        guard bytes.count > 5 else { return nil }
        return bytes[5] == 1 ? .tls : .other
    }

    /// Checks a request line: a method in capitals, as all registered ones are, a space, and a target that is a path,
    /// an asterisk or an http URL. Similar protocols fail at the target: `DESCRIBE rtsp://…`, `NICK name`.
    private static func requestLine(_ bytes: Span<UInt8>) -> SpokenProtocol? {
        var end = 0
        while end < bytes.count, bytes[end] &- UInt8(ascii: "A") < 26 || bytes[end] == UInt8(ascii: "-") { end += 1 }
        guard end <= longestMethod else { return .other }
        guard end < bytes.count else { return nil }
        guard end > 0, bytes[end] == .space else { return .other }
        let target = bytes.extracting(end + 1..<bytes.count)
        guard let first = target.isEmpty ? nil : target[0] else { return nil }
        switch first {
        case .slash: return .http
        case UInt8(ascii: "*"):
            return bytes.extracting(first: end).equals("OPTIONS" as StaticString) ? .http : preface(bytes)
        default: return absolute(target)
        }
    }

    /// Checks the first line of the preface, which no other protocol has.
    private static func preface(_ bytes: Span<UInt8>) -> SpokenProtocol? {
        let line = Array("PRI * HTTP/2.0\r\n".utf8)
        let count = min(line.count, bytes.count)
        guard bytes.extracting(first: count).equals(line.span.extracting(first: count)) else { return .other }
        return count < line.count ? nil : .http2
    }

    /// Checks the scheme of an http or https URL in absolute-form.
    private static func absolute(_ target: Span<UInt8>) -> SpokenProtocol? {
        let scheme = Array("http".utf8)
        for (place, letter) in scheme.enumerated() {
            guard place < target.count else { return nil }
            guard target[place].asciiLowercased == letter else { return .other }
        }
        return .http
    }
}
