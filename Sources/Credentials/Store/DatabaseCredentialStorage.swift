import Authentication
import Crypto
import Database
import IO
import Synchronization

/// A credential storage in a database, seen through a copy in memory that answers at once: the database is asked only
/// when something is written, and when somebody else has changed something.
public final class DatabaseCredentialStorage: CredentialStorage {
    private let database: any CredentialDatabase
    private let dataKey: SealingKey
    private let listeners = ChangeListeners()
    private let view = Mutex(CredentialShelves())
    /// Held over a write to the database and the one to the view, so that both see the same order.
    private let writing = Mutex(())
    private let pool: BlockingPool

    /// Reads the database once. Blocks.
    init(
        _ database: any CredentialDatabase, dataKey: SealingKey, pool: BlockingPool
    ) throws(CredentialStoreError) {
        self.database = database
        self.pool = pool
        self.dataKey = dataKey
        let shelves = try read()
        view.withLock { $0 = shelves }
    }

    // MARK: - Reading

    public func credentials(for space: ProtectionSpace) async throws(CredentialStorageError) -> [String: Credential] {
        view.withLock { $0.credentials(for: space) }
    }

    public func allCredentials() async throws(CredentialStorageError) -> [ProtectionSpace: [String: Credential]] {
        view.withLock { $0.all }
    }

    public func defaultCredential(for space: ProtectionSpace) async throws(CredentialStorageError) -> Credential? {
        view.withLock { $0.defaultCredential(for: space) }
    }

    /// All of it, as of now.
    var shelves: CredentialShelves { view.withLock { $0 } }

    public func changes() -> AsyncStream<CredentialChange> { listeners.stream() }

    // MARK: - Writing

    public func set(_ credential: Credential, for space: ProtectionSpace) async throws(CredentialStorageError) {
        let row = try sealed(credential, for: space, asDefault: false)
        try await unblocked { storage throws(CredentialStorageError) in try storage.put(row, for: space) }
    }

    public func setDefault(
        _ credential: Credential, for space: ProtectionSpace
    ) async throws(CredentialStorageError) {
        let row = try sealed(credential, for: space, asDefault: true)
        try await unblocked { storage throws(CredentialStorageError) in try storage.put(row, for: space) }
    }

    public func remove(user: String, for space: ProtectionSpace) async throws(CredentialStorageError) {
        try await unblocked { storage throws(CredentialStorageError) in try storage.drop(user: user, for: space) }
    }

    /// What is written, and the credential as everyone else will read it, and whoever starts after us.
    func sealed(
        _ credential: Credential, for space: ProtectionSpace, asDefault: Bool
    ) throws(CredentialStorageError) -> (row: StoredCredential, kept: Credential) {
        let row: StoredCredential?
        let kept: Credential?
        do throws(CryptoError) {
            row = try StoredCredential(credential, for: space, isDefault: asDefault, sealedWith: dataKey)
            kept = try row?.credential(openedWith: dataKey)
        } catch { throw .unavailable("\(error)") }
        guard let row, let kept else { throw .noUser(credential: credential.version.name) }
        return (row, kept)
    }

    /// Blocks.
    func put(
        _ sealed: (row: StoredCredential, kept: Credential), for space: ProtectionSpace
    ) throws(CredentialStorageError) {
        let (row, kept) = sealed
        try write { connection throws(DatabaseError) in
            try CredentialTables.put(row, connection)
        } showing: { view in
            view.put(kept, of: row.user, for: space, asDefault: row.isDefault)
            return [CredentialChange(row.isDefault ? .madeDefault : .set, space: space, user: row.user)]
        }
    }

    /// Blocks.
    func drop(user: String, for space: ProtectionSpace) throws(CredentialStorageError) {
        try write { connection throws(DatabaseError) in
            try CredentialTables.remove(user: user, for: space, connection)
        } showing: { view in
            view.remove(user: user, for: space) ? [CredentialChange(.removed, space: space, user: user)] : []
        }
    }

    func write(
        _ body: @Sendable (any SQLConnection) throws(DatabaseError) -> Void,
        showing change: (inout CredentialShelves) -> [CredentialChange]
    ) throws(CredentialStorageError) {
        try writing.withLock { _ throws(CredentialStorageError) in
            do throws(DatabaseError) { try database.write(body) } catch { throw .unavailable("\(error)") }
            view.withLock { view in
                for change in change(&view) { listeners.tell(change) }
            }
        }
    }

    private func unblocked(
        _ body: @escaping @Sendable (DatabaseCredentialStorage) throws(CredentialStorageError) -> Void
    ) async throws(CredentialStorageError) {
        let result = await pool.run { () -> Result<Void, CredentialStorageError> in
            do throws(CredentialStorageError) { return .success(try body(self)) } catch { return .failure(error) }
        }
        try result.get()
    }

    // MARK: - Others' changes

    /// Takes over what other processes have changed. Blocks.
    func refresh() throws(CredentialStoreError) {
        try writing.withLock { _ throws(CredentialStoreError) in
            let shelves = try read()
            view.withLock { view in
                let changes = shelves.changes(since: view)
                view = shelves
                for change in changes { listeners.tell(change) }
            }
        }
    }

    private func read() throws(CredentialStoreError) -> CredentialShelves {
        let rows = try CredentialStoreError.asking { () throws(DatabaseError) in
            try database.read { connection throws(DatabaseError) in try CredentialTables.credentials(connection) }
        }
        var shelves = CredentialShelves()
        for row in rows {
            do throws(CryptoError) {
                shelves.put(
                    try row.credential(openedWith: dataKey), of: row.user, for: row.space, asDefault: row.isDefault)
            } catch { throw .foreignRow(user: row.user, host: row.space.host) }
        }
        return shelves
    }
}
