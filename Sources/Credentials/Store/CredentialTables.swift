import Authentication
import Database

/// A store's tables: what is read from them and written to them, the same in every database.
enum CredentialTables {
    private static let space = "host, port, protocol, proxy, realm, method"
    private static let isSpace =
        "host = $1 AND port = $2 AND protocol = $3 AND proxy = $4 AND realm = $5 AND method = $6"

    // MARK: - The key

    static func key(_ connection: some SQLConnection) throws(DatabaseError) -> StoreKey? {
        guard let row = try connection.rows("SELECT wrapping_key, wrapped FROM attache_store_key").first else {
            return nil
        }
        guard row.count == 2, let id = row[0].text, let wrapped = row[1].bytes else {
            throw .unusable("its key cannot be read")
        }
        return StoreKey(wrappingKeyID: id, wrapped: wrapped)
    }

    static func adopt(_ key: StoreKey, _ connection: some SQLConnection) throws(DatabaseError) {
        try connection.rows(
            "INSERT INTO attache_store_key VALUES (1, $1, $2) ON CONFLICT (one) DO NOTHING",
            [.text(key.wrappingKeyID), .bytes(key.wrapped)])
    }

    static func replace(_ key: StoreKey, _ connection: some SQLConnection) throws(DatabaseError) {
        try connection.rows(
            "UPDATE attache_store_key SET wrapping_key = $1, wrapped = $2",
            [.text(key.wrappingKeyID), .bytes(key.wrapped)])
    }

    // MARK: - Credentials

    static func credentials(_ connection: some SQLConnection) throws(DatabaseError) -> [StoredCredential] {
        var credentials: [StoredCredential] = []
        for row in try connection.rows(
            "SELECT \(space), \"user\", is_default, sealed FROM attache_credentials")
        {
            guard let credential = StoredCredential(columns: row) else {
                throw .unusable("a row of its credentials cannot be read")
            }
            credentials.append(credential)
        }
        return credentials
    }

    static func put(_ row: StoredCredential, _ connection: some SQLConnection) throws(DatabaseError) {
        if row.isDefault {
            try connection.rows("UPDATE attache_credentials SET is_default = 0 WHERE \(isSpace)", row.space.columns)
        }
        try connection.rows(
            """
            INSERT INTO attache_credentials (\(space), "user", is_default, sealed)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            ON CONFLICT (\(space), "user") DO UPDATE SET
                sealed = excluded.sealed,
                is_default = CASE excluded.is_default WHEN 1 THEN 1 ELSE attache_credentials.is_default END
            """,
            row.space.columns + [.text(row.user), .integer(row.isDefault ? 1 : 0), .bytes(row.sealed)])
    }

    static func remove(
        user: String, for space: ProtectionSpace, _ connection: some SQLConnection
    ) throws(DatabaseError) {
        try connection.rows(
            "DELETE FROM attache_credentials WHERE \(isSpace) AND \"user\" = $7", space.columns + [.text(user)])
    }

    // MARK: - Refusals

    static func refusals(_ connection: some SQLConnection) throws(DatabaseError) -> [ParkedCredentials.Entry] {
        try connection.rows("SELECT \(space), name, fingerprint FROM attache_refusals ORDER BY number")
            .compactMap(ParkedCredentials.Entry.init(columns:))
    }

    static func add(
        _ refusal: ParkedCredentials.Entry, _ connection: some SQLConnection
    ) throws(DatabaseError) {
        try connection.rows(
            """
            INSERT INTO attache_refusals (\(space), name, fingerprint)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (\(space), name, fingerprint) DO NOTHING
            """, refusal.columns)
    }

    static func removeRefusals(
        before version: CredentialVersion, _ connection: some SQLConnection
    ) throws(DatabaseError) {
        try connection.rows(
            "DELETE FROM attache_refusals WHERE name = $1 AND fingerprint <> $2",
            [.text(version.name), .bytes(version.fingerprintBytes)])
    }

    static func removeRefusals(_ connection: some SQLConnection) throws(DatabaseError) {
        try connection.rows("DELETE FROM attache_refusals")
    }
}
