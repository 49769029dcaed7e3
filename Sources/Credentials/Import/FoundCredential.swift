import Crypto

/// A user and a password as another program's file has them.
public struct FoundCredential: Sendable, Equatable {
    /// Whom the file means them for.
    public enum Place: Sendable, Hashable {
        /// A server, whatever it is asked for.
        case host(String)
        case url(String)
        /// A proxy by its URL.
        case proxy(String)
    }

    /// From 1.
    public let line: Int
    public let place: Place
    public let user: String
    public let password: Secret

    public init(line: Int, place: Place, user: String, password: Secret) {
        self.line = line
        self.place = place
        self.user = user
        self.password = password
    }
}
