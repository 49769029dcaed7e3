import Authentication
import Crypto
import Database

/// What was copied from one store into another.
public struct StoreMigration: Sendable, Equatable {
    public let credentials: Int
    public let refusals: Int
    public let spaces: Int
    public let tokens: Int

    /// Copies all of a store into another, in one transaction there, which ends only if all of it was read back the same
    /// and opens under the other's key. What is sealed is taken over with the key that it is sealed with, which is wrapped
    /// anew: so refusals stay those of the very values that were refused. Blocks.
    ///
    /// - Parameter replacing: whether what the other holds may go.
    static func run(
        from source: any CredentialDatabase, _ sourceKey: SealingKey, to destination: any CredentialDatabase,
        _ destinationKey: SealingKey, replacing: Bool
    ) throws(CredentialStoreError) -> StoreMigration {
        try StoreKey.check(source, sourceKey)
        let (key, contents) = try CredentialStoreError.asking { () throws(DatabaseError) in
            try source.read { connection throws(DatabaseError) in
                try connection.snapshot { () throws(DatabaseError) in
                    (try CredentialTables.key(connection), try StoreContents(connection))
                }
            }
        }
        guard let key else { throw .database(.unusable("nothing was ever kept in it")) }
        let dataKey = try key.dataKey(unwrappedWith: sourceKey)
        try contents.check(openedWith: dataKey)
        let wrapped = try StoreKey(dataKey, wrappedBy: destinationKey)
        let present = try CredentialStoreError.asking { () throws(DatabaseError) -> StoreContents? in
            try destination.update()
            return try destination.write { connection, revision throws(DatabaseError) -> StoreContents? in
                let present = try StoreContents(connection)
                if !present.isEmpty, !replacing { return present }
                try connection.rows("DELETE FROM attache_store_key")
                try CredentialTables.adopt(wrapped, connection)
                try contents.write(at: revision, to: connection)
                guard try contents.hasSameRows(as: StoreContents(connection)),
                    try CredentialTables.key(connection) == wrapped
                else { throw .unusable("it does not give back what was written to it") }
                return nil
            }
        }
        if let present { throw .notEmpty(credentials: present.count(of: .credentials)) }
        return StoreMigration(
            credentials: contents.count(of: .credentials), refusals: contents.count(of: .refusals),
            spaces: contents.count(of: .spaces), tokens: contents.count(of: .tokens))
    }
}

extension StoreContents {
    /// Opens every credential.
    func check(openedWith key: SealingKey) throws(CredentialStoreError) {
        for row in rows[.credentials] ?? [] {
            let credential: StoredCredential
            do throws(UnreadableCredential) { credential = try StoredCredential(row: row) } catch {
                throw .unreadableRow(user: error.user, host: error.host, cause: error.cause)
            }
            guard (try? credential.credential(openedWith: key)) != nil else {
                throw .foreignRow(user: credential.user, host: credential.space.host)
            }
        }
    }
}
