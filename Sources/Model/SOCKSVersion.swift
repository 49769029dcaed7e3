/// A version of SOCKS that clients speak.
public enum SOCKSVersion: Sendable, Hashable {
    /// RFC 1928.
    case five
    /// With an IPv4 address.
    case four
    /// With the host's name in the request.
    case fourA

    public var token: StaticString {
        switch self {
        case .five: "5"
        case .four: "4"
        case .fourA: "4a"
        }
    }
}
