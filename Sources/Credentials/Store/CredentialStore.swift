import Authentication
import Bytes
import Crypto
import Database
import IO

/// What outlives the process: credentials of permanent persistence, and what was refused.
public final class CredentialStore: Sendable {
    public let storage: any CredentialStorage
    /// Kept in the store as they change.
    public let parked: ParkedCredentials
    private let database: any CredentialDatabase
    private let kept: DatabaseCredentialStorage

    /// Opens a store in a SQLite file, which is made if there is none. Blocks.
    ///
    /// - Parameters:
    ///   - key: wraps the store's own key; a new store adopts it.
    ///   - fingerprintKey: given the key under which the store's processes make fingerprints of credentials, before
    ///     any credential is read.
    ///   - report: told what could not be written after the fact.
    public convenience init(
        sqlite path: String, key: SealingKey, fingerprintKey: (Secret) -> Void,
        report: @escaping @Sendable (String) -> Void
    ) throws(CredentialStoreError) {
        let database = try CredentialStoreError.asking { () throws(DatabaseError) in
            try SQLiteCredentialDatabase(path: path)
        }
        try self.init(database, key: key, pool: .shared, fingerprintKey: fingerprintKey, report: report)
    }

    init(
        _ database: any CredentialDatabase, key: SealingKey, pool: BlockingPool, fingerprintKey: (Secret) -> Void,
        report: @escaping @Sendable (String) -> Void
    ) throws(CredentialStoreError) {
        let dataKey = try StoreKey.dataKey(of: database, wrappedBy: key)
        fingerprintKey(dataKey.derived(for: "credential fingerprints"))
        self.database = database
        kept = try DatabaseCredentialStorage(database, dataKey: dataKey, pool: pool)
        storage = kept
        parked = ParkedCredentials(journal: StoredRefusals(database, pool: pool, report: report))
        try adoptRefusals()
    }

    /// Takes over what other processes have changed. Blocks.
    public func refresh() throws(CredentialStoreError) {
        if try kept.refresh() { try adoptRefusals() }
    }

    private func adoptRefusals() throws(CredentialStoreError) {
        parked.adopt(try CredentialStoreError.asking { () throws(DatabaseError) in try database.refusals() })
    }

    /// Wraps the store's own key by another. The rows stay as they are, and whoever has the store open goes on. Blocks.
    public static func rewrap(
        sqlite path: String, from former: SealingKey, to new: SealingKey
    ) throws(CredentialStoreError) {
        let database = try CredentialStoreError.asking { () throws(DatabaseError) in
            try SQLiteCredentialDatabase(path: path)
        }
        try StoreKey.rewrap(database, from: former, to: new)
    }
}
