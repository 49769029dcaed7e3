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
    public var entries: [Entry] { kept.entries }

    public func credential(of user: String, for space: ProtectionSpace) -> Credential? {
        kept.credential(of: user, for: space)
    }

    /// Whether there is one of the user, even one that cannot be read or opened.
    public func holds(_ user: String, for space: ProtectionSpace) -> Bool { kept.holds(user, for: space) }

    /// Whose credential a space's challenges are answered with.
    public func defaultUser(for space: ProtectionSpace) -> String? { kept.defaultUser(for: space) }

    /// Does all of it or nothing, in that order; it is on the disk when the call returns.
    public func apply(_ edits: [CredentialEdit]) throws(CredentialStorageError) { try kept.apply(edits) }

    /// Adds the credential, or replaces the one of the same user; it is on the disk when the call returns.
    public func put(
        _ credential: Credential, for space: ProtectionSpace, asDefault: Bool
    ) throws(CredentialStorageError) {
        try apply([.set(credential, for: space, asDefault: asDefault)])
    }

    /// Adds or replaces all of them, or none; they are on the disk when the call returns.
    public func put(_ batch: [KeptCredential]) throws(CredentialStorageError) {
        try apply(batch.map { .set($0.credential, for: $0.space, asDefault: $0.isDefault) })
    }

    /// All that is kept, in no particular order.
    public var credentials: [KeptCredential] {
        entries.compactMap { entry in
            credential(of: entry.user, for: entry.space).map {
                KeptCredential($0, for: entry.space, isDefault: entry.isDefault)
            }
        }
    }

    /// Removes the user's credential; that there is none is no error.
    public func remove(user: String, for space: ProtectionSpace) throws(CredentialStorageError) {
        try apply([.remove(user: user, for: space)])
    }
}
