/// The one spelling of a host by which servers are told apart: a name in lower case and without the dot of the root; an
/// IPv4 address as a dotted quad, also where it came as `::ffff:10.0.0.7`; any other IPv6 address as RFC 5952 has it, without
/// brackets.
public enum HostSpelling {
    /// The canonical spelling of a host, whose IPv6 address may stand in brackets. A text that is no host stays as it is but
    /// for its case and one dot at its end.
    public static func canonical(_ host: String) -> String {
        let text = host.utf8Span.span
        if let address = text.ipv6Host { return "\(address)" }
        return text.extracting(text.bareHost).text.lowercased()
    }
}

extension Span<UInt8> {
    /// Whether the host is a spelling of another, which is spelled canonically. Allocates nothing.
    public func isSpelling(of canonical: Span<UInt8>) -> Bool {
        // Hosts come in the canonical spelling nearly always.
        if equalsIgnoringCase(canonical) || extracting(bareHost).equalsIgnoringCase(canonical) { return true }
        guard let address = ipv6Host else { return false }
        return IPAddress(canonical) == address
    }

    /// The canonical spelling of the IPv6 address that the host is; nil for other hosts, and where it is spelled so.
    public var respelledAddress: [UInt8]? {
        guard let address = ipv6Host else { return nil }
        let canonical = Array("\(address)".utf8)
        return canonical.span.equalsIgnoringCase(extracting(bareHost)) ? nil : canonical
    }

    /// Where the host stands without the brackets of an IPv6 address, or without the dot of the root.
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

    /// The address of a host that is spelled as an IPv6 address.
    fileprivate var ipv6Host: IPAddress? {
        let host = extracting(bareHost)
        // The first group of one ends within five bytes, and no name has a colon.
        for offset in 0..<Swift.min(5, host.count) where host[offset] == .colon { return IPAddress(host)?.unmapped }
        return nil
    }
}
