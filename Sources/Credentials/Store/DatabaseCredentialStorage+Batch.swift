import Authentication
import Database

extension DatabaseCredentialStorage {
    /// Writes all or nothing. Blocks.
    func put(_ batch: [KeptCredential]) throws(CredentialStorageError) {
        var sealed: [(row: StoredCredential, kept: Credential)] = []
        for one in batch {
            sealed.append(try self.sealed(one.credential, for: one.space, asDefault: one.isDefault))
        }
        let rows = sealed.map(\.row)
        try write { connection throws(DatabaseError) in
            for row in rows { try CredentialTables.put(row, connection) }
        } showing: { view in
            sealed.map { row, kept in
                view.put(kept, of: row.user, for: row.space, asDefault: row.isDefault)
                return CredentialChange(row.isDefault ? .madeDefault : .set, space: row.space, user: row.user)
            }
        }
    }
}
