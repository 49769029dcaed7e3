import Bytes

/// The client of a request as the rules see it.
public struct ClientIdentity: Sendable, Hashable {
    public let address: IPAddress
    /// The name under which the proxy authenticated it; nil when it did not.
    public let user: String?

    public init(address: IPAddress, user: String? = nil) {
        self.address = address
        self.user = user
    }
}
