/// The canonical spelling of a host, by which servers are compared. A name is in lower case and without a trailing dot.
/// An IPv4 address is a dotted quad, also if it was written as `::ffff:10.0.0.7`. Any other IPv6 address is in the form
/// of RFC 5952, without brackets.
public enum HostSpelling {
    /// The canonical spelling of a host. An IPv6 address may be in brackets. A text that is not a host only changes to
    /// lower case and loses one dot at its end.
    public static func canonical(_ host: String) -> String {
        let text = host.utf8Span.span
        if let address = text.ipv6Host { return "\(address)" }
        return text.extracting(text.bareHost).text.lowercased()
    }
}

extension Span<UInt8> {
    /// Whether the host is a spelling of another one, which is in canonical spelling. Allocates nothing.
    public func isSpelling(of canonical: Span<UInt8>) -> Bool {
        // Hosts mostly have the canonical spelling.
        if equalsIgnoringCase(canonical) || extracting(bareHost).equalsIgnoringCase(canonical) { return true }
        guard let address = ipv6Host else { return false }
        return IPAddress(canonical) == address
    }

    /// The canonical spelling of the host's IPv6 address; nil for other hosts, and if the spelling is already
    /// canonical.
    public var respelledAddress: [UInt8]? {
        guard let address = ipv6Host else { return nil }
        let canonical = Array("\(address)".utf8)
        return canonical.span.equalsIgnoringCase(extracting(bareHost)) ? nil : canonical
    }

    /// The range of the host without the brackets of an IPv6 address, or without a trailing dot.
    public var bareHost: Range<Int> {
        guard count > 1 else { return 0..<count }
        switch self[count - 1] {
        case UInt8(ascii: ".") where self[count - 2] != UInt8(ascii: ".") && self[count - 2] != UInt8(ascii: "]"):
            return 0..<count - 1
        case UInt8(ascii: "]") where self[0] == UInt8(ascii: "[") && firstIndex(of: .colon) != nil:
            return 1..<count - 1
        default: return 0..<count
        }
    }

    /// The address of a host that is written as an IPv6 address.
    fileprivate var ipv6Host: IPAddress? {
        let host = extracting(bareHost)
        // The first group of an address ends within five bytes, and no name contains a colon.
        for offset in 0..<Swift.min(5, host.count) where host[offset] == .colon { return IPAddress(host)?.unmapped }
        return nil
    }
}
