import Authentication
import Database

/// A store's tables: what is read from them and written to them, the same in every database.
enum CredentialTables {
    static let space = "host, port, protocol, proxy, realm, method"
    static let isSpace =
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

    // MARK: - The numbers of changes

    static func revision(_ connection: some SQLConnection) throws(DatabaseError) -> StoreRevision {
        let row = try connection.rows("SELECT latest, refusals, forgotten FROM attache_revision").first ?? []
        guard row.count == 3, let latest = row[0].integer, let refusals = row[1].integer,
            let forgotten = row[2].integer
        else { throw .unusable("its changes have no number") }
        return StoreRevision(latest: latest, refusals: refusals, forgotten: forgotten)
    }

    /// The number of the change that is being made.
    ///
    /// - Returns: 1 or more, whatever the number before it was.
    static func nextRevision(_ connection: some SQLConnection) throws(DatabaseError) -> Int64 {
        let rows = try connection.rows(
            """
            UPDATE attache_revision SET latest = CASE WHEN latest < 0 THEN 1 ELSE latest + 1 END
            WHERE latest < \(Int64.max) RETURNING latest
            """)
        guard let revision = rows.first?.first?.integer, revision > 0 else {
            throw .unusable(
                "there is no number left for another change; 'attache store migrate' copies it into a store that begins anew"
            )
        }
        return revision
    }

    /// A revision before every other: what was changed since then is everything.
    static let beginning = Int64.min

    // MARK: - Credentials

    /// Every credential that was changed since a revision.
    ///
    /// - Returns: the rows that cannot be read. They keep nobody from reading the others.
    static func forEachCredential(
        since revision: Int64, _ connection: some SQLConnection, _ body: (StoredCredential) -> Void
    ) throws(DatabaseError) -> [UnreadableCredential] {
        var unreadable: [UnreadableCredential] = []
        let isEverything = revision == beginning
        try connection.forEachRow(
            "SELECT \(space), \"user\", is_default, sealed, kind FROM attache_credentials"
                + (isEverything ? "" : " WHERE revision > $1"),
            isEverything ? [] : [.integer(revision)]
        ) { row throws(DatabaseError) in
            do throws(UnreadableCredential) { body(try StoredCredential(row: row)) } catch { unreadable.append(error) }
        }
        return unreadable
    }

    /// The removals since a revision; a removed row may be there again.
    static func removals(
        since revision: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) -> [CredentialPlace] {
        var removals: [CredentialPlace] = []
        try connection.forEachRow(
            "SELECT \(space), \"user\" FROM attache_removals WHERE revision > $1", [.integer(revision)]
        ) { row throws(DatabaseError) in
            if let space = ProtectionSpace(row: row), let user = row.text(6) {
                removals.append(CredentialPlace(space: space, user: user))
            }
        }
        return removals
    }

    static func put(
        _ row: StoredCredential, at revision: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) {
        if row.isDefault { try clearDefault(of: row.space, but: row.user, at: revision, connection) }
        try connection.rows(
            """
            INSERT INTO attache_credentials (\(space), "user", is_default, sealed, revision, kind)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
            ON CONFLICT (\(space), "user") DO UPDATE SET
                sealed = excluded.sealed, revision = excluded.revision, kind = excluded.kind,
                is_default = CASE WHEN 1 IN (excluded.is_default, attache_credentials.is_default) THEN 1 ELSE 0 END
            """,
            row.space.columns
                + [
                    .text(row.user), .integer(row.isDefault ? 1 : 0), .bytes(row.sealed), .integer(revision),
                    .text(row.kind.rawValue),
                ])
        try removeRefusals(of: row.space.credentialName(of: row.user), at: revision, connection)
    }

    /// - Returns: whether there is one.
    @discardableResult
    static func makeDefault(
        user: String, for space: ProtectionSpace, at revision: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) -> Bool {
        let isThere = try connection.rows(
            "UPDATE attache_credentials SET is_default = 1, revision = $8 WHERE \(isSpace) AND \"user\" = $7 "
                + "RETURNING is_default", space.columns + [.text(user), .integer(revision)])
        if !isThere.isEmpty { try clearDefault(of: space, but: user, at: revision, connection) }
        return !isThere.isEmpty
    }

    private static func clearDefault(
        of space: ProtectionSpace, but user: String, at revision: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) {
        try connection.rows(
            """
            UPDATE attache_credentials SET is_default = 0, revision = $8
            WHERE \(isSpace) AND "user" <> $7 AND is_default = 1
            """, space.columns + [.text(user), .integer(revision)])
    }

    /// - Returns: whether there was one.
    @discardableResult
    static func remove(
        user: String, for space: ProtectionSpace, at revision: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) -> Bool {
        let removed = try connection.rows(
            "DELETE FROM attache_credentials WHERE \(isSpace) AND \"user\" = $7 RETURNING is_default",
            space.columns + [.text(user)])
        if removed.isEmpty { return false }
        try connection.rows(
            "INSERT INTO attache_removals (\(self.space), \"user\", revision) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            space.columns + [.text(user), .integer(revision)])
        try removeRefusals(of: space.credentialName(of: user), at: revision, connection)
        // A process that is so far behind reads everything.
        let forgotten = try connection.rows(
            "DELETE FROM attache_removals WHERE revision < $1 RETURNING revision", [.integer(revision - memory)])
        if !forgotten.isEmpty {
            try connection.rows("UPDATE attache_revision SET forgotten = $1", [.integer(revision - memory)])
        }
        return true
    }

    /// Changes that a removal is remembered for.
    private static let memory: Int64 = 10_000

    // MARK: - Refusals

    static func refusals(
        _ connection: some SQLConnection
    ) throws(DatabaseError) -> [(ParkedCredentials.Entry, ParkedCredentials.Term)] {
        let columns = "\(space), name, fingerprint, since, next_try, retries"
        return try connection.rows("SELECT \(columns) FROM attache_refusals ORDER BY number").compactMap { row in
            guard let entry = ParkedCredentials.Entry(columns: row), let term = ParkedCredentials.Term(columns: row)
            else { return nil }
            return (entry, term)
        }
    }

    /// Keeps a refusal, unless the store has another value for the refused credential by now.
    static func add(
        _ refusal: ParkedCredentials.Entry, for term: ParkedCredentials.Term, at revision: Int64,
        _ connection: some SQLConnection
    ) throws(DatabaseError) {
        if let user = refusal.space.user(ofCredentialNamed: refusal.version.name) {
            for space in [refusal.space, refusal.space.general].compactMap({ $0 }) {
                let kept = try connection.rows(
                    "SELECT sealed FROM attache_credentials WHERE \(isSpace) AND \"user\" = $7",
                    space.columns + [.text(user)])
                guard let box = kept.first?.first?.bytes else { continue }
                if StoredCredential.fingerprint(of: box) != refusal.version.fingerprint { return }
                break
            }
        }
        try connection.rows(
            """
            INSERT INTO attache_refusals (\(space), name, fingerprint, since, next_try, retries)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
            ON CONFLICT (\(space), name, fingerprint) DO UPDATE SET next_try = excluded.next_try,
                retries = excluded.retries
            """, refusal.columns + term.columns)
        try connection.rows(
            """
            DELETE FROM attache_refusals WHERE number <=
                (SELECT number FROM attache_refusals ORDER BY number DESC LIMIT 1 OFFSET 4096)
            """)
        try markRefusals(at: revision, connection)
    }

    /// Sets the time of the next try, unless another process was first.
    static func claim(
        _ refusal: ParkedCredentials.Entry, seen: ParkedCredentials.Term, until next: ParkedCredentials.Term,
        at revision: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) -> Bool {
        let claimed = try connection.rows(
            "UPDATE attache_refusals SET next_try = $9 WHERE \(isRefusal) AND next_try = $10 RETURNING number",
            refusal.columns + [next.nextTryColumn, seen.nextTryColumn])
        if !claimed.isEmpty { try markRefusals(at: revision, connection) }
        return !claimed.isEmpty
    }

    private static let isRefusal = "\(isSpace) AND name = $7 AND fingerprint = $8"

    static func removeRefusals(
        before version: CredentialVersion, at revision: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) {
        let removed = try connection.rows(
            "DELETE FROM attache_refusals WHERE name = $1 AND fingerprint <> $2 RETURNING number",
            [.text(version.name), .bytes(version.fingerprintBytes)])
        if !removed.isEmpty { try markRefusals(at: revision, connection) }
    }

    private static func removeRefusals(
        of name: String, at revision: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) {
        let removed = try connection.rows(
            "DELETE FROM attache_refusals WHERE name = $1 RETURNING number", [.text(name)])
        if !removed.isEmpty { try markRefusals(at: revision, connection) }
    }

    static func remove(
        _ refusals: [ParkedCredentials.Entry], at revision: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) {
        for refusal in refusals {
            try connection.rows(
                "DELETE FROM attache_refusals WHERE \(isRefusal)", refusal.columns)
        }
        try markRefusals(at: revision, connection)
    }

    private static func markRefusals(at revision: Int64, _ connection: some SQLConnection) throws(DatabaseError) {
        try connection.rows("UPDATE attache_revision SET refusals = $1", [.integer(revision)])
    }
}
