import Authentication
import Database

/// Where a store keeps its rows. Every call blocks, is atomic, and is durable once it returned.
protocol CredentialDatabase: Sendable {
    /// The store's key; nil while it has none.
    func key() throws(DatabaseError) -> StoreKey?
    /// Gives a store without a key this one.
    /// - Returns: the key it has now: another process may have been first.
    func adopt(_ key: StoreKey) throws(DatabaseError) -> StoreKey
    /// Replaces the key, if it is still wrapped by that key.
    /// - Returns: whether it was.
    func replace(_ key: StoreKey, wrappedBy former: String) throws(DatabaseError) -> Bool

    func rows() throws(DatabaseError) -> [StoredCredential]
    /// Adds the row or replaces the one of the same space and user, which stays the default if it was. A row that is
    /// the default makes the space's others none.
    func put(_ row: StoredCredential) throws(DatabaseError)
    func remove(user: String, for space: ProtectionSpace) throws(DatabaseError)

    /// In the order they came.
    func refusals() throws(DatabaseError) -> [ParkedCredentials.Entry]
    /// Adds a refusal; one that is there stays.
    func add(_ refusal: ParkedCredentials.Entry) throws(DatabaseError)
    /// Removes the refusals of that name's other versions.
    func removeRefusals(before version: CredentialVersion) throws(DatabaseError)
    func removeRefusals() throws(DatabaseError)

    /// A number that differs whenever somebody else has changed something.
    func foreignChanges() throws(DatabaseError) -> Int64
}
