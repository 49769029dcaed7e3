import Bytes

/// For whom an authority of ours may speak at all (RFC 5280 section 4.2.1.10), so that whoever trusts it risks no more
/// than these names.
public enum NameConstraint: Sendable, Hashable {
    /// All names below a domain, and perhaps itself.
    case domain(String, withItself: Bool)
    /// The addresses that share that many leading bits.
    case network(IPAddress, prefixLength: Int)

    var isDomain: Bool {
        if case .domain = self { true } else { false }
    }

    /// Bytes of an address, nil for a domain.
    var addressWidth: Int? {
        switch self {
        case .domain: nil
        case .network(let address, _): address.bytes.count
        }
    }

    var generalName: [UInt8] {
        switch self {
        case .domain(let domain, let withItself):
            // The leading dot is RFC 5280's for URIs; for DNS names every library that we know takes it so too.
            return DER.primitive(2, Array(((withItself ? "" : ".") + domain).utf8))
        case .network(let address, let prefixLength):
            let mask = address.bytes.indices.map { index in
                let bits = min(8, max(0, prefixLength - 8 * index))
                return UInt8(truncatingIfNeeded: 0xFF00 >> bits)
            }
            return DER.primitive(7, zip(address.bytes, mask).map { $0 & $1 } + mask)
        }
    }
}
