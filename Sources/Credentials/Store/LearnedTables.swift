import Authentication
import Database

/// A store's tables of what was learned: spaces and tokens.
enum LearnedTables {
    /// Milliseconds.
    static let dayLength = 86_400_000
    /// Days that a space is remembered without being met anew.
    private static let memory: Int64 = 30
    /// Spaces remembered; beyond it those that were met longest ago go.
    private static let capacity = 4096

    // MARK: - Spaces

    /// Whether a space is one that is worth its row: an origin may send what it likes as its realm, and an index has less
    /// room than that.
    static func mayKeep(_ space: ProtectionSpace) -> Bool {
        space.realm.map { $0.utf8.count <= 1024 && !$0.utf8.contains(0) } ?? true
    }

    static func put(
        _ learned: LearnedSpace, on day: Int64, at revision: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) {
        try connection.rows(
            """
            INSERT INTO attache_spaces (\(CredentialTables.space), extents, accepted, day, revision)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            ON CONFLICT (\(CredentialTables.space)) DO UPDATE SET extents = excluded.extents,
                accepted = excluded.accepted, day = excluded.day, revision = excluded.revision
            """,
            learned.space.columns
                + [
                    .bytes(LearnedSpaceCoding.bytes(of: learned.extents)),
                    .bytes(LearnedSpaceCoding.bytes(of: learned.accepted)), .integer(day), .integer(revision),
                ])
        try connection.rows("DELETE FROM attache_spaces WHERE day < $1", [.integer(day - memory)])
        try connection.rows(
            """
            DELETE FROM attache_spaces WHERE revision <=
                (SELECT revision FROM attache_spaces ORDER BY revision DESC LIMIT 1 OFFSET \(capacity))
            """)
    }

    /// What was learned since a revision, and not too long ago.
    static func spaces(
        since revision: Int64, on day: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) -> [LearnedSpace] {
        var spaces: [LearnedSpace] = []
        try connection.forEachRow(
            "SELECT \(CredentialTables.space), extents, accepted FROM attache_spaces "
                + "WHERE revision > $1 AND day >= $2 ORDER BY revision", [.integer(revision), .integer(day - memory)]
        ) { row throws(DatabaseError) in
            // What cannot be read is learned again.
            guard let space = ProtectionSpace(row: row),
                let extents = row.bytes(6).flatMap(LearnedSpaceCoding.extents(in:)),
                let accepted = row.bytes(7).flatMap(LearnedSpaceCoding.versions(in:))
            else { return }
            spaces.append(LearnedSpace(space: space, extents: extents, accepted: accepted))
        }
        return spaces
    }

    // MARK: - Tokens

    static func put(
        _ row: StoredToken, at revision: Int64, now: Int, _ connection: some SQLConnection
    ) throws(DatabaseError) {
        try connection.rows("DELETE FROM attache_tokens WHERE ends_at < $1", [.integer(Int64(clamping: now))])
        try connection.rows(
            """
            INSERT INTO attache_tokens (name, fingerprint, sealed, ends_at, renews_at, revision)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (name, fingerprint) DO UPDATE SET sealed = excluded.sealed, ends_at = excluded.ends_at,
                renews_at = excluded.renews_at, revision = excluded.revision
            """,
            [
                .text(row.grant.name), .bytes(row.grant.fingerprintBytes), .bytes(row.sealed),
                .integer(Int64(clamping: row.endsAt)), .integer(Int64(clamping: row.renewsAt)), .integer(revision),
            ])
    }

    /// The tokens that were fetched since a revision and still hold.
    static func tokens(
        since revision: Int64, now: Int, _ connection: some SQLConnection
    ) throws(DatabaseError) -> [StoredToken] {
        var tokens: [StoredToken] = []
        try connection.forEachRow(
            "SELECT name, fingerprint, sealed, ends_at, renews_at FROM attache_tokens "
                + "WHERE revision > $1 AND ends_at > $2", [.integer(revision), .integer(Int64(clamping: now))]
        ) { row throws(DatabaseError) in
            guard let name = row.text(0), let grant = CredentialVersion(name: name, fingerprint: row.bytes(1) ?? []),
                let sealed = row.bytes(2), let endsAt = row.integer(3), let renewsAt = row.integer(4)
            else { return }
            tokens.append(
                StoredToken(
                    grant: grant, sealed: sealed, endsAt: Int(clamping: endsAt), renewsAt: Int(clamping: renewsAt)))
        }
        return tokens
    }
}
