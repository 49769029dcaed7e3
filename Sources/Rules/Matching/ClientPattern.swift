import Bytes

/// The sender of a request: an address block, or the name under which the proxy authenticated the client.
public enum ClientPattern: Hashable, Sendable, CustomStringConvertible {
    case addresses(AddressPrefix)
    case user(TextPattern)

    public func matches(address: IPAddress, user: String?) -> Bool {
        switch self {
        case .addresses(let prefix): prefix.contains(address.unmapped)
        case .user(let pattern): user.map { pattern.matches($0) } ?? false
        }
    }

    public var description: String {
        switch self {
        case .addresses(let prefix): prefix.description
        case .user(let pattern): pattern.description
        }
    }
}
