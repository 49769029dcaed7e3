import Authentication

/// For those who may block: whoever is not on a loop.
extension CredentialStore {
    /// A credential without its secret.
    public struct Entry: Sendable, Hashable {
        public let space: ProtectionSpace
        public let user: String
        public let isDefault: Bool
    }

    /// In no particular order.
    public var entries: [Entry] {
        kept.shelves.all.flatMap { space, credentials in
            let user = kept.shelves.defaultUser(for: space)
            return credentials.keys.map { Entry(space: space, user: $0, isDefault: $0 == user) }
        }
    }

    public func credential(of user: String, for space: ProtectionSpace) -> Credential? {
        kept.shelves.credential(of: user, for: space)
    }

    /// Adds the credential, or replaces the one of the same user; it is on the disk when the call returns.
    public func put(
        _ credential: Credential, for space: ProtectionSpace, asDefault: Bool
    ) throws(CredentialStorageError) {
        try kept.put(try kept.sealed(credential, for: space, asDefault: asDefault), for: space)
    }

    /// Adds or replaces all of them, or none; they are on the disk when the call returns.
    public func put(_ batch: [KeptCredential]) throws(CredentialStorageError) { try kept.put(batch) }

    /// All that is kept, in no particular order.
    public var credentials: [KeptCredential] {
        kept.shelves.all.flatMap { space, credentials in
            let user = kept.shelves.defaultUser(for: space)
            return credentials.map { KeptCredential($0.value, for: space, isDefault: $0.key == user) }
        }
    }

    /// Removes the user's credential; that there is none is no error.
    public func remove(user: String, for space: ProtectionSpace) throws(CredentialStorageError) {
        try kept.drop(user: user, for: space)
    }
}
