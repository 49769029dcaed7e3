import Bytes

/// The server that a certificate has to speak for: the host of a URL (RFC 9525 section 2).
public enum ServerName: Sendable, Hashable {
    /// A host name in ASCII (an internationalised one as A-labels), lower case, without a trailing dot.
    case host(String)
    case address(IPAddress)

    /// The name of an authority's host, in any case, with or without the dot of the root.
    public init(_ host: String) {
        if let address = IPAddress(host) {
            self = .address(address)
        } else {
            let name = host.lowercased()
            self = .host(name.hasSuffix(".") && name.utf8.count > 1 ? String(name.dropLast()) : name)
        }
    }
}

extension ServerName: CustomStringConvertible {
    public var description: String {
        switch self {
        case .host(let name): name
        case .address(let address): "\(address)"
        }
    }
}
