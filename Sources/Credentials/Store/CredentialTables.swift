import Authentication
import Database
import Model

/// The access to a store's tables, equal for every database.
enum CredentialTables {
    static let space = "host, port, protocol, proxy, realm, method"
    static let isSpace =
        "host = $1 AND port = $2 AND protocol = $3 AND proxy = $4 AND realm = $5 AND method = $6"

    // MARK: - The key

    static func key(_ connection: some SQLConnection) throws(DatabaseError) -> CredentialStore.Key? {
        guard let row = try connection.rows("SELECT wrapping_key, wrapped FROM attache_store_key").first else {
            return nil
        }
        guard row.count == 2, let id = row[0].text, let wrapped = row[1].bytes else {
            throw .unusable("its key cannot be read")
        }
        return CredentialStore.Key(wrappingKeyID: id, wrapped: wrapped)
    }

    static func adopt(_ key: CredentialStore.Key, _ connection: some SQLConnection) throws(DatabaseError) {
        try connection.rows(
            "INSERT INTO attache_store_key VALUES (1, $1, $2) ON CONFLICT (one) DO NOTHING",
            [.text(key.wrappingKeyID), .bytes(key.wrapped)])
    }

    static func replace(_ key: CredentialStore.Key, _ connection: some SQLConnection) throws(DatabaseError) {
        try connection.rows(
            "UPDATE attache_store_key SET wrapping_key = $1, wrapped = $2",
            [.text(key.wrappingKeyID), .bytes(key.wrapped)])
    }

    // MARK: - The numbers of changes

    /// The revision of a store: the number of its latest change.
    struct Revision: Sendable, Hashable {
        let latest: Int64
        /// Removals up to this one are no longer on record.
        let forgotten: Int64
    }

    static func revision(_ connection: some SQLConnection) throws(DatabaseError) -> CredentialTables.Revision {
        let row = try connection.rows("SELECT latest, forgotten FROM attache_revision").first ?? []
        guard let latest = row.integer(0), let forgotten = row.integer(1) else {
            throw .unusable("its changes have no number")
        }
        return CredentialTables.Revision(latest: latest, forgotten: forgotten)
    }

    /// The number of the current change.
    ///
    /// - Returns: 1 or more, for any previous number.
    static func nextRevision(_ connection: some SQLConnection) throws(DatabaseError) -> Int64 {
        let rows = try connection.rows(
            """
            UPDATE attache_revision SET latest = CASE WHEN latest < 0 THEN 1 ELSE latest + 1 END
            WHERE latest < \(Int64.max) RETURNING latest
            """)
        guard let revision = rows.first?.first?.integer, revision > 0 else {
            throw .unusable(
                "there is no number left for another change; run 'attache store migrate' to copy it into a new store"
            )
        }
        return revision
    }

    /// A revision before every other one, for reading everything.
    static let beginning = Int64.min

    // MARK: - Credentials

    /// Every credential that was changed since a revision, also one whose host is not spelled canonically.
    ///
    /// - Returns: the rows that cannot be read. All others are read.
    static func forEachCredential(
        since revision: Int64, _ connection: some SQLConnection, _ body: (StoredCredential) -> Void
    ) throws(DatabaseError) -> [StoredCredential.Unreadable] {
        var unreadable: [StoredCredential.Unreadable] = []
        let isEverything = revision == beginning
        try connection.forEachRow(
            "SELECT \(space), \"user\", is_default, sealed, kind FROM attache_credentials"
                + (isEverything ? "" : " WHERE revision > $1"),
            isEverything ? [] : [.integer(revision)]
        ) { row throws(DatabaseError) in
            do throws(StoredCredential.Unreadable) { body(try StoredCredential(row: row)) } catch {
                unreadable.append(error)
            }
        }
        return unreadable
    }

    /// The removals since a revision; a removed row may exist again.
    static func removals(
        since revision: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) -> [StoredCredential.Place] {
        try connection.values(
            of: "SELECT \(space), \"user\" FROM attache_removals WHERE revision > $1", [.integer(revision)]
        ) { StoredCredential.Place(row: $0) }
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
    }

    /// - Returns: whether it exists.
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

    /// - Returns: whether it existed.
    static func remove(
        user: String, for space: ProtectionSpace, at revision: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) -> Bool {
        let removed = try connection.rows(
            "DELETE FROM attache_credentials WHERE \(isSpace) AND \"user\" = $7 RETURNING is_default",
            space.columns + [.text(user)])
        if removed.isEmpty { return false }
        try remember(removed: space.columns + [.text(user)], at: revision, connection)
        try AccountTables.remove(space.credentialName(of: user), connection)
        return true
    }

    /// Replaces a row by one with the canonical spelling of its host.
    ///
    /// - Returns: the written row; nil if the old one is gone, or if there is already one for the same server.
    static func respell(
        _ old: StoredCredential, as new: StoredCredential, at revision: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) -> StoredCredential? {
        let columns = [.text(old.spelledHost)] + old.space.columns.dropFirst() + [.text(old.user)]
        let removed = try connection.rows(
            "DELETE FROM attache_credentials WHERE \(isSpace) AND \"user\" = $7 AND sealed = $8 RETURNING is_default",
            columns + [.bytes(old.sealed)])
        if removed.isEmpty { return nil }
        try remember(removed: columns, at: revision, connection)
        try AccountTables.remove("\(old.user)@\(old.spelledHost):\(old.space.origin.portText)", connection)
        let others = try connection.rows(
            "SELECT \"user\", is_default FROM attache_credentials WHERE \(isSpace)", new.space.columns)
        if others.contains(where: { $0.first?.text?.utf8.elementsEqual(new.user.utf8) == true }) { return nil }
        var row = new
        if others.contains(where: { $0.last?.integer == 1 }) { row.isDefault = false }
        try put(row, at: revision, connection)
        return row
    }

    /// Records a removed row for other processes.
    private static func remember(
        removed columns: [DatabaseValue], at revision: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) {
        try connection.rows(
            "INSERT INTO attache_removals (\(space), \"user\", revision) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            columns + [.integer(revision)])
        // A process that is so far behind reads everything.
        let forgotten = try connection.rows(
            "DELETE FROM attache_removals WHERE revision < $1 RETURNING revision", [.integer(revision - memory)])
        if !forgotten.isEmpty {
            try connection.rows("UPDATE attache_revision SET forgotten = $1", [.integer(revision - memory)])
        }
    }

    /// The number of changes for which a removal is recorded.
    private static let memory: Int64 = 10_000
}
