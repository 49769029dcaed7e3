/// A version of SOCKS that clients speak.
public enum SOCKSVersion: Sendable, Hashable {
    /// RFC 1928.
    case five
    /// The request has an IPv4 address.
    case four
    /// The request has the host's name.
    case fourA

    public var token: StaticString {
        switch self {
        case .five: "5"
        case .four: "4"
        case .fourA: "4a"
        }
    }
}
