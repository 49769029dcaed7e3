/// The databases that a credential store can be kept in, by the word of the rule file.
public enum StoreBackend: String, Sendable, Hashable, CaseIterable {
    case sqlite
    case postgresql

    /// Whether a store is a file, which the rule file names by its path. If not, it is on a server that several proxies
    /// can share, and is named by a connection string.
    public var isFile: Bool { self == .sqlite }
}

/// The place of a credential store.
public struct StoreLocation: Sendable, Hashable {
    public enum Place: Sendable, Hashable {
        /// The path of a file.
        case file(String)
        /// A connection string, which may hold a password.
        case server(ValueSource)
    }

    public let backend: StoreBackend
    public let place: Place

    public init(_ backend: StoreBackend, _ place: Place) {
        self.backend = backend
        self.place = place
    }
}
