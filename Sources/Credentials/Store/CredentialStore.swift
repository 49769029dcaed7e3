import Authentication
import Bytes
import Crypto
import Database
import IO
import Synchronization

/// What outlives the process: credentials of permanent persistence, and what was refused.
public final class CredentialStore: Sendable {
    public let storage: any CredentialStorage
    /// Kept in the store as they change.
    public let parked: ParkedCredentials
    private let database: any CredentialDatabase
    /// Wraps the store's own key; a store in its place may have another of those.
    private let key: SealingKey
    /// What is still to be taken over.
    private let behind = Mutex<ForeignChanges?>(nil)
    let kept: DatabaseCredentialStorage

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

    /// Opens a store in a PostgreSQL database that this and other processes share; its tables are made if there are none.
    /// As above.
    ///
    /// - Parameter info: libpq's connection string or URI.
    public convenience init(
        postgresql info: String, key: SealingKey, fingerprintKey: (Secret) -> Void,
        report: @escaping @Sendable (String) -> Void
    ) throws(CredentialStoreError) {
        let name: [UInt8]
        do throws(CryptoError) { name = try RandomBytes.make(8) } catch { throw .cannotSeal("\(error)") }
        let database = try CredentialStoreError.asking { () throws(DatabaseError) in
            try PostgreSQLCredentialDatabase(info, name: Hex.encode(name))
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
        self.key = key
        kept = try DatabaseCredentialStorage(database, dataKey: dataKey, pool: pool, report: report)
        storage = kept
        parked = ParkedCredentials(journal: StoredRefusals(database, pool: pool, report: report))
        try adoptRefusals()
    }

    /// Waits for changes that other processes make, and takes them over. Blocks.
    ///
    /// - Parameter limit: milliseconds to wait.
    /// - Returns: whether there may have been any.
    @discardableResult
    public func follow(within limit: Int) throws(CredentialStoreError) -> Bool {
        let changes = try CredentialStoreError.asking { () throws(DatabaseError) in
            try database.foreignChanges(within: limit)
        }
        // What is not taken over now for want of a connection is taken over later.
        let behind = behind.withLock { behind in
            switch changes {
            case .none: break
            case .some: behind = behind ?? .some
            case .replaced: behind = .replaced
            }
            return behind
        }
        guard let behind else { return false }
        if case .replaced = behind {
            try kept.replace(try StoreKey.dataKey(of: database, wrappedBy: key))
        } else {
            try kept.refresh(
                to: try CredentialStoreError.asking { () throws(DatabaseError) in
                    try database.read { connection throws(DatabaseError) in try CredentialTables.revision(connection) }
                })
        }
        try adoptRefusals()
        self.behind.withLock { $0 = nil }
        return true
    }

    private func adoptRefusals() throws(CredentialStoreError) {
        parked.adopt(
            try CredentialStoreError.asking { () throws(DatabaseError) in
                try database.read { connection throws(DatabaseError) in try CredentialTables.refusals(connection) }
            })
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

    /// The same in a PostgreSQL database.
    ///
    /// - Parameter info: libpq's connection string or URI.
    public static func rewrap(
        postgresql info: String, from former: SealingKey, to new: SealingKey
    ) throws(CredentialStoreError) {
        let database = try CredentialStoreError.asking { () throws(DatabaseError) in
            try PostgreSQLCredentialDatabase(info, name: "rekey")
        }
        try StoreKey.rewrap(database, from: former, to: new)
    }
}
