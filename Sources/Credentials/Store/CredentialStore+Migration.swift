import Authentication
import Crypto
import Database

extension CredentialStore {
    /// The number of rows copied from one store into another.
    public struct Migration: Sendable, Equatable {
        public let credentials: Int
        public let accounts: Int
        public let spaces: Int
        public let tokens: Int

        /// Copies all of a store into another one, in one transaction there. It ends only if everything was read back
        /// equal and can be opened with the other's key. Sealed content is copied together with its data key, which is
        /// wrapped again: so accounts still belong to the values that were judged. Blocks.
        ///
        /// - Parameters:
        ///   - replacing: whether the destination's content may be replaced.
        ///   - observer: called for each row that is written; it may stop the copy.
        static func run(
            from source: any CredentialDatabase, _ sourceKey: SealingKey, to destination: any CredentialDatabase,
            _ destinationKey: SealingKey, replacing: Bool, observedBy observer: some WorkObserver = Unobserved()
        ) throws(CredentialStore.Failure) -> CredentialStore.Migration {
            try Key.check(source, sourceKey)
            let (key, contents) = try source.ask { connection throws(DatabaseError) in
                try connection.snapshot { () throws(DatabaseError) in
                    (try CredentialTables.key(connection), try CredentialStore.Migration.Contents(connection))
                }
            }
            guard let key else { throw .database(.unusable("nothing was ever kept in it")) }
            let dataKey = try key.dataKey(unwrappedWith: sourceKey)
            try contents.check(openedWith: dataKey)
            let wrapped = try Key(dataKey, wrappedBy: destinationKey)
            let present = try CredentialStore.Failure.asking {
                () throws(DatabaseError) -> CredentialStore.Migration.Contents? in
                try destination.update()
                return try destination.write {
                    connection, revision throws(DatabaseError) -> CredentialStore.Migration.Contents? in
                    let present = try CredentialStore.Migration.Contents(connection)
                    if !present.isEmpty, !replacing { return present }
                    try connection.rows("DELETE FROM attache_store_key")
                    try CredentialTables.adopt(wrapped, connection)
                    try contents.write(at: revision, to: connection, observedBy: observer)
                    guard try contents.hasSameRows(as: CredentialStore.Migration.Contents(connection)),
                        try CredentialTables.key(connection) == wrapped
                    else { throw .unusable("it gives back other values than were written") }
                    guard observer.continues(after: contents.count, of: contents.count) else { throw .stopped }
                    return nil
                }
            }
            if let present { throw .notEmpty(credentials: present.count(of: .credentials)) }
            return CredentialStore.Migration(
                credentials: contents.count(of: .credentials), accounts: contents.count(of: .accounts),
                spaces: contents.count(of: .spaces), tokens: contents.count(of: .tokens))
        }
    }
}

extension CredentialStore.Migration {
    /// The content of a store at one moment, except its key. Sealed content stays sealed.
    struct Contents: Sendable, Equatable {
        private(set) var rows: [CredentialStore.Migration.Table: [[DatabaseValue]]] = [:]

        init(_ connection: some SQLConnection) throws(DatabaseError) {
            for table in CredentialStore.Migration.Table.allCases {
                rows[table] = try connection.rows("SELECT \(table.columns) FROM \(table.rawValue)\(table.order)")
            }
        }

        /// Decrypts every credential.
        func check(openedWith key: SealingKey) throws(CredentialStore.Failure) {
            for row in rows[.credentials] ?? [] {
                let credential: StoredCredential
                do throws(StoredCredential.Unreadable) { credential = try StoredCredential(row: row) } catch {
                    throw .unreadableRow(user: error.user, host: error.host, cause: error.cause)
                }
                guard (try? credential.credential(openedWith: key)) != nil else {
                    throw .foreignRow(user: credential.user, host: credential.space.host)
                }
            }
        }

        var isEmpty: Bool { rows.values.allSatisfy(\.isEmpty) }

        /// The number of all rows.
        var count: Int { rows.values.reduce(0) { $0 + $1.count } }

        func count(of table: CredentialStore.Migration.Table) -> Int { rows[table]?.count ?? 0 }

        /// Whether the other table has the same rows, in any order.
        func hasSameRows(as other: CredentialStore.Migration.Contents) -> Bool {
            CredentialStore.Migration.Table.allCases.allSatisfy { table in
                count(of: table) == other.count(of: table) && Set(rows[table] ?? []) == Set(other.rows[table] ?? [])
            }
        }

        /// Replaces the content of a store. Each process that follows that store reads all of it.
        func write(
            at revision: Int64, to connection: some SQLConnection, observedBy observer: some WorkObserver
        ) throws(DatabaseError) {
            var done = 0
            for table in CredentialStore.Migration.Table.allCases {
                try connection.rows("DELETE FROM \(table.rawValue)")
                let columns = table.isNumbered ? "\(table.columns), revision" : table.columns
                for row in rows[table] ?? [] {
                    guard observer.continues(after: done, of: count) else { throw .stopped }
                    done += 1
                    let values = table.isNumbered ? row + [.integer(revision)] : row
                    let places = values.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
                    try connection.rows("INSERT INTO \(table.rawValue) (\(columns)) VALUES (\(places))", values)
                }
            }
            try connection.rows("DELETE FROM attache_removals")
            try connection.rows("UPDATE attache_revision SET refusals = $1, forgotten = $1", [.integer(revision)])
            try EarlierRefusals.markConverted(at: revision, connection)
        }
    }

    /// A table of a store that holds something of its own. The tables that number the changes are made again in a copy.
    enum Table: String, Sendable, CaseIterable {
        case credentials = "attache_credentials"
        case refusals = "attache_refusals"
        case spaces = "attache_spaces"
        case tokens = "attache_tokens"
        case refreshTokens = "attache_refresh_tokens"
        case accounts = "attache_accounts"

        /// All columns except the number of the change, row numbers, and claims.
        var columns: String {
            switch self {
            case .credentials: "\(CredentialTables.space), \"user\", is_default, sealed, kind"
            case .refusals: "\(CredentialTables.space), name, fingerprint, since, next_try, retries"
            case .spaces: "\(CredentialTables.space), extents, accepted, day"
            case .tokens: "name, fingerprint, sealed, ends_at, renews_at, generation"
            case .refreshTokens: "name, fingerprint, sealed, generation, used_at"
            case .accounts: "name, fingerprint, owner, day, sealed"
            }
        }

        var isNumbered: Bool { self != .refusals && self != .refreshTokens }

        /// The clause that orders rows as they were written, where that matters.
        var order: String { self == .refusals ? " ORDER BY number" : "" }
    }
}
