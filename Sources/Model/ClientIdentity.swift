import Bytes

/// The client of a request as the rules see it.
public struct ClientIdentity: Sendable, Hashable {
    /// The client's address; nil at a unix socket.
    public let address: IPAddress?
    private let exactUser: ExactText?

    public init(address: IPAddress?, user: String? = nil) {
        self.address = address
        exactUser = user.map { ExactText($0) }
    }

    /// The client's address in words, without an IPv6 form of an IPv4 address.
    public var place: String { address.map { "\($0.unmapped)" } ?? Self.local }

    /// The address in words of every client at a unix socket.
    public static let local = "unix"

    /// The user as whom the proxy authenticated the client; nil if it did not.
    public var user: String? { exactUser?.text }
}
