import Bytes

/// The `host[:port]` of a target or a Host field, as offsets from the start of the head (RFC 3986 section 3.2).
///
/// The host has only characters that DNS and sockets support: letters, digits, `-`, `.`, `_` and `~`, or it is an
/// address. Percent-encoding and sub-delimiters, which RFC 3986 allows in a registered name, are refused, since
/// programs decode them differently. A name that ends in a number but is not a dotted quad (`127.1`, `0x7f.1`) is
/// refused too: some resolvers read it as an address.
public struct Authority: Sendable {
    public enum HostForm: UInt8, Sendable { case name, ipv4, ipv6 }

    public let form: HostForm
    /// Host and explicit port as written, brackets included, for a Host field.
    public let text: Range<Int>
    /// The host; an IPv6 address without its brackets.
    public let host: Range<Int>
    /// The port; nil if none is written.
    public let explicitPort: UInt16?

    /// The longest host name: 253 characters of DNS and a trailing dot, rounded up.
    static let longestHost = 255
}

extension Authority {
    /// Reads all of `range`.
    init(_ bytes: Span<UInt8>, in range: Range<Int>) throws(Defect) {
        guard let first = range.first else { throw .malformedHost }
        let end: Int
        if bytes[first] == UInt8(ascii: "[") {
            host = try Self.bracketed(bytes, in: range)
            form = .ipv6
            end = host.upperBound &+ 1
        } else {
            end = bytes.endOfHostName(in: range)
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

    /// Reads the bytes between `start` and the path, the query or `end`, if they are a host name or dotted quad with or
    /// without a port. Nil for anything else, valid or not.
    init?(plainAt start: Int, to end: Int, of bytes: Span<UInt8>) {
        let hostEnd: Int
        if bytes[start].isDigit, let quadEnd = bytes.endOfDottedQuad(in: start..<end) {
            hostEnd = quadEnd
            form = .ipv4
        } else {
            hostEnd = bytes.endOfHostName(in: start..<end)
            guard hostEnd > start, hostEnd &- start <= Self.longestHost,
                let form = try? Self.form(ofName: bytes, in: start..<hostEnd)
            else { return nil }
            self.form = form
        }
        var next = hostEnd
        var port: UInt32 = 0
        if next < end, bytes[next] == .colon {
            next &+= 1
            while next < end, bytes[next].isDigit, port < 10_000 {
                port = port &* 10 &+ UInt32(bytes[next] &- 0x30)
                next &+= 1
            }
            guard port > 0, port <= UInt16.max, next &- hostEnd <= 6 else { return nil }
        }
        guard bytes.beginsPath(at: next, or: end) else { return nil }
        explicitPort = port == 0 ? nil : UInt16(truncatingIfNeeded: port)
        host = start..<hostEnd
        text = start..<next
    }

    private static func bracketed(_ bytes: Span<UInt8>, in range: Range<Int>) throws(Defect) -> Range<Int> {
        guard let close = bytes.firstIndex(of: UInt8(ascii: "]"), in: range) else { throw .malformedHost }
        let inside = range.lowerBound &+ 1..<close
        guard inside.count <= 45, let address = IPAddress(bytes.extracting(inside)), address.family == .v6
        else { throw .malformedHost }
        return inside
    }

    /// Whether it is a name or a dotted quad, decided by the last label as in the "ends in a number" check of the
    /// WHATWG URL standard.
    private static func form(ofName bytes: Span<UInt8>, in host: Range<Int>) throws(Defect) -> HostForm {
        let dot = UInt8(ascii: ".")
        var end = host.upperBound
        if end > host.lowerBound, bytes[end &- 1] == dot { end &-= 1 }
        guard end > host.lowerBound, bytes[end &- 1] != dot, bytes[host.lowerBound] != dot else {
            throw .malformedHost
        }
        guard bytes[end &- 1].hexValue != nil else { return .name }
        if bytes.endOfDottedQuad(in: host) == host.upperBound { return .ipv4 }
        var label = end
        while label > host.lowerBound, bytes[label &- 1] != dot { label &-= 1 }
        if isNumber(bytes, in: label..<end) { throw .malformedHost }
        return .name
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

    private static func port(_ bytes: Span<UInt8>, in range: Range<Int>) throws(Defect) -> UInt16 {
        guard range.count <= 5 else { throw .malformedPort }
        var value: UInt32 = 0
        var offset = range.lowerBound
        while offset < range.upperBound {
            guard bytes[offset].isDigit else { throw .malformedPort }
            value = value &* 10 &+ UInt32(bytes[offset] &- 0x30)
            offset &+= 1
        }
        guard let port = UInt16(exactly: value), port > 0 else { throw .malformedPort }
        return port
    }

    /// The host; an IPv6 address with its brackets.
    public var bracketedHost: Range<Int> {
        form == .ipv6 ? host.lowerBound - 1..<host.upperBound + 1 : host
    }
}
