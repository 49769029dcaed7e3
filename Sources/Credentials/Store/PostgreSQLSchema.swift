import Database

/// The tables of a store in PostgreSQL, by version.
enum PostgreSQLSchema {
    /// Of the advisory lock that writers take turns with: the letters of `attache`, as a number.
    static let lock = "SELECT pg_advisory_xact_lock(27431112437036133)"
    /// Carries the name of the connection that has changed something.
    static let channel = "attache_credentials"

    /// Oldest first; the store says which it has. A realm stands behind `=`, so that none and the empty one differ.
    private static let migrations = [
        [
            """
            CREATE TABLE attache_store_key (
                one integer PRIMARY KEY CHECK (one = 1), wrapping_key text NOT NULL, wrapped bytea NOT NULL
            )
            """,
            """
            CREATE TABLE attache_credentials (
                host text NOT NULL, port integer NOT NULL, protocol text NOT NULL, proxy integer NOT NULL,
                realm text NOT NULL, method text NOT NULL, "user" text NOT NULL,
                is_default integer NOT NULL, sealed bytea NOT NULL,
                PRIMARY KEY (host, port, protocol, proxy, realm, method, "user")
            )
            """,
            """
            CREATE TABLE attache_refusals (
                number bigserial PRIMARY KEY,
                host text NOT NULL, port integer NOT NULL, protocol text NOT NULL, proxy integer NOT NULL,
                realm text NOT NULL, method text NOT NULL, name text NOT NULL, fingerprint bytea NOT NULL,
                UNIQUE (host, port, protocol, proxy, realm, method, name, fingerprint)
            )
            """,
        ],
        CredentialSchema.numberedChanges(bytes: "bytea"),
    ]

    static func migrate(_ connection: PostgreSQLConnection) throws(DatabaseError) {
        // Whoever finds the tables as they are to be needs no right to make any.
        if try version(of: connection) == migrations.count { return }
        try connection.transaction { () throws(DatabaseError) in
            try connection.rows(lock)
            try connection.rows("CREATE TABLE IF NOT EXISTS attache_schema (version integer NOT NULL)")
            let version = try version(of: connection)
            for statement in migrations[version...].joined() { try connection.rows(statement) }
            try connection.rows("DELETE FROM attache_schema")
            try connection.rows("INSERT INTO attache_schema VALUES ($1)", [.integer(Int64(migrations.count))])
        }
    }

    /// 0 where there are no tables.
    static func version(of connection: PostgreSQLConnection) throws(DatabaseError) -> Int {
        let isThere = try connection.rows("SELECT 1 WHERE to_regclass('attache_schema') IS NOT NULL")
        if isThere.isEmpty { return 0 }
        let known = try connection.rows("SELECT version FROM attache_schema").first?.first?.integer
        let version = Int(clamping: known ?? 0)
        return try CredentialSchema.checked(version, among: migrations.count)
    }
}
