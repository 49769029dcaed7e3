import Bytes

/// The client of a request as the rules see it.
public struct ClientIdentity: Sendable, Hashable {
    public let address: IPAddress
    private let exactUser: ExactText?

    public init(address: IPAddress, user: String? = nil) {
        self.address = address
        exactUser = user.map { ExactText($0) }
    }

    /// The user as whom the proxy authenticated the client; nil if it did not.
    public var user: String? { exactUser?.text }
}
