import Bytes

/// A set of names that a CA of the proxy may issue certificates for (RFC 5280 section 4.2.1.10). Clients that trust the
/// CA risk no other names.
public enum NameConstraint: Sendable, Hashable {
    /// All names below a domain, and with `withItself` the domain too.
    case domain(String, withItself: Bool)
    /// The addresses that share this many leading bits.
    case network(IPAddress, prefixLength: Int)

    /// The number of bytes of an address; nil for a domain.
    var addressWidth: Int? {
        switch self {
        case .domain: nil
        case .network(let address, _): address.bytes.count
        }
    }

    var generalName: [UInt8] {
        switch self {
        case .domain(let domain, let withItself):
            // RFC 5280 defines the leading dot for URIs. All known libraries treat it alike in DNS names.
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
