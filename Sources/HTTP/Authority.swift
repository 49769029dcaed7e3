import Bytes

/// `host[:port]` as it stands in a target or a Host field, as offsets from the start of the head (RFC 3986 section
/// 3.2).
///
/// The host is what DNS and sockets can hold: letters, digits, `-`, `.`, `_` and `~`, or an address. Percent-encoding
/// and sub-delimiters, which RFC 3986 allows in a registered name, are refused, since each program decodes them
/// differently; so is a name that ends in a number but is no dotted quad (`127.1`, `0x7f.1`), which some resolvers
/// take for an address.
public struct Authority: Sendable {
    public enum HostForm: UInt8, Sendable { case name, ipv4, ipv6 }

    public let form: HostForm
    /// Host and explicit port as written, brackets included: what goes into a Host field.
    public let text: Range<Int>
    /// The host; an IPv6 address without its brackets.
    public let host: Range<Int>
    /// The port, when one is written.
    public let explicitPort: UInt16?

    /// The longest host name: 253 characters of DNS and the dot of the root, rounded up.
    static let longestHost = 255
}

extension Authority {
    /// Reads exactly `range`.
    init(_ bytes: Span<UInt8>, in range: Range<Int>) throws(Defect) {
        guard let first = range.first else { throw .malformedHost }
        let end: Int
        if bytes[first] == UInt8(ascii: "[") {
            host = try Self.bracketed(bytes, in: range)
            form = .ipv6
            end = host.upperBound &+ 1
        } else {
            end = Self.endOfName(bytes, in: range)
            host = first..<end
            guard !host.isEmpty, host.count <= Self.longestHost else { throw .malformedHost }
            form = try Self.form(ofName: bytes, in: host)
        }
        guard end < range.upperBound else {
            text = first..<end
            explicitPort = nil
            return
        }
        guard bytes[end] == .colon else { throw .malformedHost }
        if end &+ 1 == range.upperBound {
            text = first..<end
            explicitPort = nil
        } else {
            text = range
            explicitPort = try Self.port(bytes, in: end &+ 1..<range.upperBound)
        }
    }

    /// Whether both name the same host and port; `defaultPort` stands for a port that is not written.
    func agrees(with other: Authority, in bytes: Span<UInt8>, defaultPort: UInt16?) -> Bool {
        form == other.form && (explicitPort ?? defaultPort) == (other.explicitPort ?? defaultPort)
            && bytes.extracting(host).equalsIgnoringCase(bytes.extracting(other.host))
    }

    private static func bracketed(_ bytes: Span<UInt8>, in range: Range<Int>) throws(Defect) -> Range<Int> {
        guard let close = bytes.firstIndex(of: UInt8(ascii: "]"), in: range) else { throw .malformedHost }
        let inside = range.lowerBound &+ 1..<close
        guard inside.count <= 45, let address = IPAddress(bytes.extracting(inside).text), address.family == .v6
        else { throw .malformedHost }
        return inside
    }

    private static func endOfName(_ bytes: Span<UInt8>, in range: Range<Int>) -> Int {
        var offset = range.lowerBound
        while offset < range.upperBound, isHostByte(bytes[offset]) { offset &+= 1 }
        return offset
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        if (byte | 0x20) &- 0x61 < 26 || byte.isDigit { return true }
        return switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }

    /// Name or dotted quad, by the last label as the WHATWG URL standard's "ends in a number" check does it.
    private static func form(ofName bytes: Span<UInt8>, in host: Range<Int>) throws(Defect) -> HostForm {
        let dot = UInt8(ascii: ".")
        var end = host.upperBound
        if end > host.lowerBound, bytes[end &- 1] == dot { end &-= 1 }
        guard end > host.lowerBound, bytes[end &- 1] != dot, bytes[host.lowerBound] != dot else {
            throw .malformedHost
        }
        guard bytes[end &- 1].hexValue != nil else { return .name }
        var label = end
        while label > host.lowerBound, bytes[label &- 1] != dot { label &-= 1 }
        guard isNumber(bytes, in: label..<end) else { return .name }
        guard end == host.upperBound, isDottedQuad(bytes, in: host) else { throw .malformedHost }
        return .ipv4
    }

    private static func isNumber(_ bytes: Span<UInt8>, in label: Range<Int>) -> Bool {
        var offset = label.lowerBound
        if label.count > 1, bytes[offset] == 0x30, bytes[offset &+ 1] | 0x20 == UInt8(ascii: "x") {
            offset &+= 2
            while offset < label.upperBound, bytes[offset].hexValue != nil { offset &+= 1 }
        } else {
            while offset < label.upperBound, bytes[offset].isDigit { offset &+= 1 }
        }
        return offset == label.upperBound
    }

    /// Four decimal numbers below 256 without leading zeros.
    private static func isDottedQuad(_ bytes: Span<UInt8>, in host: Range<Int>) -> Bool {
        guard host.count <= 15 else { return false }
        var parts = 0
        var digits = 0
        var value = 0
        for offset in host {
            let byte = bytes[offset]
            if byte.isDigit {
                if digits > 0, value == 0 { return false }
                value = value &* 10 &+ Int(byte &- 0x30)
                digits &+= 1
                if value > 255 { return false }
            } else {
                guard byte == UInt8(ascii: "."), digits > 0 else { return false }
                parts &+= 1
                digits = 0
                value = 0
            }
        }
        return parts == 3 && digits > 0
    }

    private static func port(_ bytes: Span<UInt8>, in range: Range<Int>) throws(Defect) -> UInt16 {
        guard range.count <= 5 else { throw .malformedPort }
        var value: UInt32 = 0
        for offset in range {
            guard bytes[offset].isDigit else { throw .malformedPort }
            value = value &* 10 &+ UInt32(bytes[offset] &- 0x30)
        }
        guard let port = UInt16(exactly: value), port > 0 else { throw .malformedPort }
        return port
    }
}
