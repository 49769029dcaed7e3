/// The classes of addresses that `egress` may name, by the registries of RFC 6890 and the clouds' documentation.
public enum AddressClass: String, CaseIterable, Sendable {
    /// The ranges 127.0.0.0/8 and ::1.
    case loopback
    /// The ranges 169.254.0.0/16 and fe80::/10.
    case linkLocal = "link-local"
    /// The ranges 224.0.0.0/4 and ff00::/8, and the limited broadcast 255.255.255.255.
    case multicast
    /// The addresses 0.0.0.0/8 and ::, which Linux connects to the machine itself.
    case unspecified
    /// The addresses where clouds provide a machine's credentials; some of them are not link-local.
    case metadata
    /// The private ranges of RFC 1918, the shared space of RFC 6598, unique local addresses (RFC 4193) and the former
    /// site-local ones.
    case `private`
    case any

    /// The blocks of the class.
    public var prefixes: [AddressPrefix] {
        let texts =
            switch self {
            case .loopback: ["127.0.0.0/8", "::1"]
            case .linkLocal: ["169.254.0.0/16", "fe80::/10"]
            case .multicast: ["224.0.0.0/4", "255.255.255.255", "ff00::/8"]
            case .unspecified: ["0.0.0.0/8", "::"]
            case .metadata:
                [
                    "169.254.169.254", "169.254.170.2", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200",
                    "168.63.129.16", "192.0.0.192",
                ]
            case .private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fec0::/10"]
            case .any: ["0.0.0.0/0", "::/0"]
            }
        return texts.compactMap { try? AddressPrefix($0) }
    }

    /// The classes that are refused unless the rule file allows them by an entry at least as narrow.
    static let refused: [AddressClass] = [.loopback, .linkLocal, .multicast, .unspecified, .metadata]
}
