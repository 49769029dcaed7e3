import Bytes
import Model

/// The server that a certificate must name: the host of a URL (RFC 9525 section 2).
public enum ServerName: Sendable, Hashable, CustomStringConvertible {
    /// A host name in ASCII (an internationalised one as A-labels), lower case, without a trailing dot.
    case host(String)
    case address(IPAddress)
    /// The workload that a rule names; no URL names one.
    case workload(SPIFFEID)

    /// Takes the host of a URL, in any case, with or without a trailing dot.
    public init(_ host: String) {
        if let address = IPAddress(host) {
            self = .address(address)
        } else {
            let name = host.lowercased()
            self = .host(name.hasSuffix(".") && name.utf8.count > 1 ? String(name.dropLast()) : name)
        }
    }

    /// Takes the name that a rule gives: a host, or a workload.
    public init(ofRule name: String) {
        if let workload = SPIFFEID(name) { self = .workload(workload) } else { self.init(name) }
    }

    public var description: String {
        switch self {
        case .host(let name): name
        case .address(let address): "\(address)"
        case .workload(let workload): "\(workload)"
        }
    }
}
