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

    public func changes() -> AsyncStream<CredentialChange> { listeners.stream() }

    // MARK: - Writing

    public func set(_ credential: Credential, for space: ProtectionSpace) async throws(CredentialStorageError) {
        try await put(credential, for: space, asDefault: false)
    }

    public func setDefault(
        _ credential: Credential, for space: ProtectionSpace
    ) async throws(CredentialStorageError) {
        try await put(credential, for: space, asDefault: true)
    }

    public func remove(user: String, for space: ProtectionSpace) async throws(CredentialStorageError) {
        try await write { storage throws(DatabaseError) in
            try storage.database.write { connection throws(DatabaseError) in
                try CredentialTables.remove(user: user, for: space, connection)
            }
            storage.view.withLock { view in
                guard view.remove(user: user, for: space) else { return }
                storage.listeners.tell(CredentialChange(.removed, space: space, user: user))
            }
        }
    }

    private func put(
        _ credential: Credential, for space: ProtectionSpace, asDefault: Bool
    ) async throws(CredentialStorageError) {
        let row: StoredCredential?
        let kept: Credential?
        do throws(CryptoError) {
            row = try StoredCredential(credential, for: space, isDefault: asDefault, sealedWith: dataKey)
            // As everyone else will read it, and whoever starts after us.
            kept = try row?.credential(openedWith: dataKey)
        } catch { throw .unavailable("\(error)") }
        guard let row, let kept else { throw .noUser(credential: credential.version.name) }
        try await write { storage throws(DatabaseError) in
            try storage.database.write { connection throws(DatabaseError) in
                try CredentialTables.put(row, connection)
            }
            storage.view.withLock { view in
                view.put(kept, of: row.user, for: space, asDefault: asDefault)
                storage.listeners.tell(
                    CredentialChange(asDefault ? .madeDefault : .set, space: space, user: row.user))
            }
        }
    }

    private func write(
        _ body: @escaping @Sendable (DatabaseCredentialStorage) throws(DatabaseError) -> Void
    ) async throws(CredentialStorageError) {
        let result = await pool.run { () -> Result<Void, DatabaseError> in
            self.writing.withLock { _ in
                do throws(DatabaseError) { return .success(try body(self)) } catch { return .failure(error) }
            }
        }
        if case .failure(let error) = result { throw .unavailable("\(error)") }
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
