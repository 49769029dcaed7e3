import Authentication
import Database
import Synchronization

/// A credential store in one SQLite file.
final class SQLiteCredentialDatabase: CredentialDatabase {
    private let database: Mutex<SQLiteDatabase>

    /// The schema's versions, oldest first; a file says in `user_version` which it has. A realm stands behind `=`, so
    /// that none and the empty one differ.
    private static let migrations = [
        [
            """
            CREATE TABLE store_key (
                one INTEGER PRIMARY KEY CHECK (one = 1), wrapping_key TEXT NOT NULL, wrapped BLOB NOT NULL
            )
            """,
            """
            CREATE TABLE credentials (
                host TEXT NOT NULL, port INTEGER NOT NULL, protocol TEXT NOT NULL, proxy INTEGER NOT NULL,
                realm TEXT NOT NULL, method TEXT NOT NULL, user TEXT NOT NULL,
                is_default INTEGER NOT NULL, sealed BLOB NOT NULL,
                PRIMARY KEY (host, port, protocol, proxy, realm, method, user)
            ) WITHOUT ROWID
            """,
            """
            CREATE TABLE refusals (
                number INTEGER PRIMARY KEY,
                host TEXT NOT NULL, port INTEGER NOT NULL, protocol TEXT NOT NULL, proxy INTEGER NOT NULL,
                realm TEXT NOT NULL, method TEXT NOT NULL, name TEXT NOT NULL, fingerprint BLOB NOT NULL,
                UNIQUE (host, port, protocol, proxy, realm, method, name, fingerprint)
            )
            """,
        ]
    ]

    /// Opens the store, or makes an empty one.
    init(path: String) throws(DatabaseError) {
        let database = try SQLiteDatabase(path: path)
        try Self.migrate(database)
        self.database = Mutex(database)
    }

    private static func migrate(_ database: SQLiteDatabase) throws(DatabaseError) {
        try database.transaction { () throws(DatabaseError) in
            let version = Int(try database.rows("PRAGMA user_version").first?.first?.integer ?? 0)
            guard version <= migrations.count else {
                throw .unusable("it was made by a later version of this program (schema \(version))")
            }
            for statement in migrations[version...].joined() { try database.rows(statement) }
            try database.rows("PRAGMA user_version = \(migrations.count)")
        }
    }

    func key() throws(DatabaseError) -> StoreKey? {
        try use { database throws(DatabaseError) in try Self.key(in: database) }
    }

    func adopt(_ key: StoreKey) throws(DatabaseError) -> StoreKey {
        try use { database throws(DatabaseError) in
            try database.rows(
                "INSERT INTO store_key VALUES (1, ?, ?) ON CONFLICT DO NOTHING",
                [.text(key.wrappingKeyID), .bytes(key.wrapped)])
            guard let present = try Self.key(in: database) else { throw .unusable("it keeps no key") }
            return present
        }
    }

    func replace(_ key: StoreKey, wrappedBy former: String) throws(DatabaseError) -> Bool {
        try use { database throws(DatabaseError) in
            try database.rows(
                "UPDATE store_key SET wrapping_key = ?, wrapped = ? WHERE wrapping_key = ?",
                [.text(key.wrappingKeyID), .bytes(key.wrapped), .text(former)])
            return database.changedRows == 1
        }
    }

    func rows() throws(DatabaseError) -> [StoredCredential] {
        try use { database throws(DatabaseError) in
            let columns = "host, port, protocol, proxy, realm, method, user, is_default, sealed"
            var rows: [StoredCredential] = []
            for values in try database.rows("SELECT \(columns) FROM credentials") {
                guard let row = StoredCredential(columns: values) else {
                    throw .unusable("a row of its credentials cannot be read")
                }
                rows.append(row)
            }
            return rows
        }
    }

    func put(_ row: StoredCredential) throws(DatabaseError) {
        let space = row.space.columns
        try use { database throws(DatabaseError) in
            try database.transaction { () throws(DatabaseError) in
                if row.isDefault {
                    try database.rows("UPDATE credentials SET is_default = 0 WHERE \(Self.isSpace)", space)
                }
                try database.rows(
                    """
                    INSERT INTO credentials VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    ON CONFLICT DO UPDATE SET
                        sealed = excluded.sealed, is_default = max(is_default, excluded.is_default)
                    """, space + [.text(row.user), .integer(row.isDefault ? 1 : 0), .bytes(row.sealed)])
            }
        }
    }

    func remove(user: String, for space: ProtectionSpace) throws(DatabaseError) {
        let columns = space.columns
        try use { database throws(DatabaseError) in
            _ = try database.rows("DELETE FROM credentials WHERE \(Self.isSpace) AND user = ?", columns + [.text(user)])
        }
    }

    func refusals() throws(DatabaseError) -> [ParkedCredentials.Entry] {
        try use { database throws(DatabaseError) in
            let columns = "host, port, protocol, proxy, realm, method, name, fingerprint"
            return try database.rows("SELECT \(columns) FROM refusals ORDER BY number")
                .compactMap(ParkedCredentials.Entry.init(columns:))
        }
    }

    func add(_ refusal: ParkedCredentials.Entry) throws(DatabaseError) {
        let columns = refusal.columns
        try use { database throws(DatabaseError) in
            _ = try database.rows(
                """
                INSERT INTO refusals (host, port, protocol, proxy, realm, method, name, fingerprint)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """, columns)
        }
    }

    func removeRefusals(before version: CredentialVersion) throws(DatabaseError) {
        try use { database throws(DatabaseError) in
            _ = try database.rows(
                "DELETE FROM refusals WHERE name = ? AND fingerprint <> ?",
                [.text(version.name), .bytes(version.fingerprintBytes)])
        }
    }

    func removeRefusals() throws(DatabaseError) {
        try use { database throws(DatabaseError) in _ = try database.rows("DELETE FROM refusals") }
    }

    func foreignChanges() throws(DatabaseError) -> Int64 {
        try use { database throws(DatabaseError) in
            try database.rows("PRAGMA data_version").first?.first?.integer ?? 0
        }
    }

    private static let isSpace =
        "host = ? AND port = ? AND protocol = ? AND proxy = ? AND realm = ? AND method = ?"

    private static func key(in database: SQLiteDatabase) throws(DatabaseError) -> StoreKey? {
        guard let row = try database.rows("SELECT wrapping_key, wrapped FROM store_key").first else { return nil }
        guard row.count == 2, let id = row[0].text, let wrapped = row[1].bytes else {
            throw .unusable("its key cannot be read")
        }
        return StoreKey(wrappingKeyID: id, wrapped: wrapped)
    }

    private func use<Value: Sendable>(
        _ body: (SQLiteDatabase) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        try database.withLock { database throws(DatabaseError) in try body(database) }
    }
}
