import Database
import Model

/// The schema of a store, by version. The databases differ in few words of it.
enum CredentialSchema {
    /// The version of the store's schema, if it is known.
    static func checked(_ version: Int, among count: Int) throws(DatabaseError) -> Int {
        if version > count {
            throw .unusable("it was made by a later version of this program (schema \(version))")
        }
        if version < 0 {
            throw .unusable("its schema has the unknown version \(version)")
        }
        return version
    }

    /// The statements of each version, oldest version first.
    ///
    /// - Parameters:
    ///   - bytes: the name of the type for bytes.
    ///   - number: the type of a column that numbers the rows.
    ///   - option: the end of the statement for a table that is found by its primary key.
    static func versions(bytes: String, number: String, option: String = "") -> [[String]] {
        [
            tables(bytes: bytes, number: number, option: option), numberedChanges(bytes: bytes), kinds, terms,
            refreshTokens(bytes: bytes), events, accounts(bytes: bytes),
        ]
    }

    private static let space = """
        host text NOT NULL, port integer NOT NULL, protocol text NOT NULL, proxy integer NOT NULL,
        realm text NOT NULL, method text NOT NULL
        """

    /// Version 1. A realm is stored after `=`, so that no realm and the empty one differ.
    private static func tables(bytes: String, number: String, option: String) -> [String] {
        [
            """
            CREATE TABLE attache_store_key (
                one integer PRIMARY KEY CHECK (one = 1), wrapping_key text NOT NULL, wrapped \(bytes) NOT NULL
            )
            """,
            """
            CREATE TABLE attache_credentials (
                \(space), "user" text NOT NULL, is_default integer NOT NULL, sealed \(bytes) NOT NULL,
                PRIMARY KEY (host, port, protocol, proxy, realm, method, "user")
            )\(option)
            """,
            """
            CREATE TABLE attache_refusals (
                number \(number) PRIMARY KEY, \(space), name text NOT NULL, fingerprint \(bytes) NOT NULL,
                UNIQUE (host, port, protocol, proxy, realm, method, name, fingerprint)
            )
            """,
        ]
    }

    /// Version 2: every change of a credential has a number, so that other processes can read new changes. Learned
    /// spaces and fetched tokens are stored too.
    ///
    /// - Parameter bytes: the name of the type for bytes.
    private static func numberedChanges(bytes: String) -> [String] {
        [
            """
            CREATE TABLE attache_revision (
                one integer PRIMARY KEY CHECK (one = 1), latest bigint NOT NULL, refusals bigint NOT NULL,
                forgotten bigint NOT NULL
            )
            """,
            "INSERT INTO attache_revision VALUES (1, 1, 0, 0)",
            "ALTER TABLE attache_credentials ADD COLUMN revision bigint NOT NULL DEFAULT 1",
            "CREATE INDEX attache_credentials_revision ON attache_credentials (revision)",
            "CREATE INDEX attache_refusals_name ON attache_refusals (name)",
            "CREATE TABLE attache_removals (revision bigint NOT NULL, \(space), \"user\" text NOT NULL)",
            "CREATE INDEX attache_removals_revision ON attache_removals (revision)",
            """
            CREATE TABLE attache_spaces (
                \(space), extents \(bytes) NOT NULL, accepted \(bytes) NOT NULL, day integer NOT NULL,
                revision bigint NOT NULL, PRIMARY KEY (host, port, protocol, proxy, realm, method)
            )
            """,
            "CREATE INDEX attache_spaces_revision ON attache_spaces (revision)",
            """
            CREATE TABLE attache_tokens (
                name text NOT NULL, fingerprint \(bytes) NOT NULL, sealed \(bytes) NOT NULL, ends_at bigint NOT NULL,
                renews_at bigint NOT NULL, revision bigint NOT NULL, PRIMARY KEY (name, fingerprint)
            )
            """,
            "CREATE INDEX attache_tokens_revision ON attache_tokens (revision)",
        ]
    }

    /// Version 3: a credential may be of another kind than a password, which is stored.
    private static let kinds = [
        "ALTER TABLE attache_credentials ADD COLUMN kind text NOT NULL DEFAULT '\(CredentialKind.password.rawValue)'"
    ]

    /// Version 4: a refusal has a time, and perhaps the time of its next try. 0 means none.
    private static let terms = ["since bigint", "next_try bigint", "retries integer"].map {
        "ALTER TABLE attache_refusals ADD COLUMN \($0) NOT NULL DEFAULT 0"
    }

    /// Version 5: refresh tokens from an endpoint are stored, and one process at a time uses them.
    ///
    /// - Parameter bytes: the name of the type for bytes.
    private static func refreshTokens(bytes: String) -> [String] {
        [
            "ALTER TABLE attache_tokens ADD COLUMN generation bigint NOT NULL DEFAULT 0",
            """
            CREATE TABLE attache_refresh_tokens (
                name text NOT NULL, fingerprint \(bytes) NOT NULL, sealed \(bytes), generation bigint NOT NULL,
                claimed_until bigint NOT NULL DEFAULT 0, used_at bigint NOT NULL, PRIMARY KEY (name, fingerprint)
            )
            """,
        ]
    }

    /// Version 6: the authors of changes are stored for the other processes. Empty and -1 mean none.
    private static let events = [
        """
        CREATE TABLE attache_events (
            \(space), time bigint NOT NULL, writer text NOT NULL, event text NOT NULL, credential text NOT NULL,
            is_default integer NOT NULL, next_try bigint NOT NULL, details text NOT NULL, actor text NOT NULL,
            uid bigint NOT NULL, client text NOT NULL, "user" text NOT NULL, machine text NOT NULL,
            revision bigint NOT NULL
        )
        """,
        "CREATE INDEX attache_events_revision ON attache_events (revision)",
    ]

    /// Version 7: the verdicts of servers are stored in accounts. `attache_refusals` stays for processes of earlier
    /// versions. An empty owner means none; `attache_revision.accounts` is 0 until accounts are made from the refusals.
    ///
    /// - Parameter bytes: the name of the type for bytes.
    private static func accounts(bytes: String) -> [String] {
        [
            "ALTER TABLE attache_revision ADD COLUMN accounts bigint NOT NULL DEFAULT 0",
            """
            CREATE TABLE attache_accounts (
                name text NOT NULL, fingerprint \(bytes) NOT NULL, owner text NOT NULL, day integer NOT NULL,
                revision bigint NOT NULL, sealed \(bytes) NOT NULL, PRIMARY KEY (name, fingerprint)
            )
            """,
            "CREATE INDEX attache_accounts_revision ON attache_accounts (revision)",
        ]
    }
}
