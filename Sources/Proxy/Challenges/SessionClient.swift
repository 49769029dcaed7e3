import Bytes
import Rules

/// Whose session it is: a user that the proxy has authenticated, else whoever has the address.
enum SessionClient: Sendable, Hashable {
    case user(String)
    case address(IPAddress)

    init(_ identity: ClientIdentity) {
        self = identity.user.map { .user($0) } ?? .address(identity.address)
    }
}
