import Authentication
import Bytes
import Crypto
import Database

/// A store's tables of fetched tokens, and of the refresh tokens that came with them.
enum TokenTables {
    private static let columns = "name, fingerprint, sealed, ends_at, renews_at, generation"
    private static let isVersion = "name = $1 AND fingerprint = $2"

    /// The time for which an unused refresh token is kept: after a year it has expired.
    private static let memory = Milliseconds.days(366)
    /// The limit of a claim; longer ones result from a wrong clock.
    private static let longestClaim = Milliseconds.hours(1)

    // MARK: - Tokens

    /// Keeps a token, unless a later one is there.
    static func put(
        _ row: TokenTables.Row, at revision: Int64, now: WallTime, _ connection: some SQLConnection
    ) throws(DatabaseError) {
        try connection.rows("DELETE FROM attache_tokens WHERE ends_at < $1", [.time(now)])
        try connection.rows(
            """
            INSERT INTO attache_tokens (\(columns), revision) VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (name, fingerprint) DO UPDATE SET sealed = excluded.sealed, ends_at = excluded.ends_at,
                renews_at = excluded.renews_at, generation = excluded.generation, revision = excluded.revision
            WHERE excluded.generation >= attache_tokens.generation
            """,
            [
                .text(row.grant.name), .bytes(row.grant.fingerprintBytes), .bytes(row.sealed),
                .time(row.endsAt), .time(row.renewsAt),
                .integer(Int64(row.generation)), .integer(revision),
            ])
    }

    /// The tokens fetched since a revision that are still valid.
    static func tokens(
        since revision: Int64, now: WallTime, _ connection: some SQLConnection
    ) throws(DatabaseError) -> [TokenTables.Row] {
        try connection.values(
            of: "SELECT \(columns) FROM attache_tokens WHERE revision > $1 AND ends_at > $2",
            [.integer(revision), .time(now)]
        ) { TokenTables.Row(row: $0) }
    }

    static func token(
        for grant: CredentialVersion, _ connection: some SQLConnection
    ) throws(DatabaseError) -> TokenTables.Row? {
        try connection.rows(
            "SELECT \(columns) FROM attache_tokens WHERE \(isVersion)",
            [.text(grant.name), .bytes(grant.fingerprintBytes)]
        ).first.flatMap { TokenTables.Row(row: $0) }
    }

    // MARK: - Refresh tokens

    /// How far a family has come, and whether a process has claimed it.
    static func refreshToken(
        of family: CredentialVersion, now: WallTime, _ connection: some SQLConnection
    ) throws(DatabaseError) -> (row: TokenTables.RefreshRow, isClaimed: Bool)? {
        let rows = try connection.rows(
            "SELECT sealed, generation, claimed_until FROM attache_refresh_tokens WHERE \(isVersion)",
            [.text(family.name), .bytes(family.fingerprintBytes)])
        guard let row = rows.first, let generation = row.integer(1), let end = row.time(2) else { return nil }
        return (
            TokenTables.RefreshRow(family: family, sealed: row.bytes(0), generation: Int(clamping: max(0, generation))),
            now < end && end <= now + longestClaim
        )
    }

    /// Claims a family until a time, in place of any other process, or ends a claim. It also stores the known rotation,
    /// unless a later one is there.
    ///
    /// - Parameter end: nil ends the claim.
    static func put(
        _ row: TokenTables.RefreshRow, claimedUntil end: WallTime?, now: WallTime, _ connection: some SQLConnection
    ) throws(DatabaseError) {
        try connection.rows("DELETE FROM attache_refresh_tokens WHERE used_at < $1", [.time(now - memory)])
        try connection.rows(
            """
            INSERT INTO attache_refresh_tokens (name, fingerprint, sealed, generation, claimed_until, used_at)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (name, fingerprint) DO UPDATE SET
                sealed = CASE WHEN excluded.generation > attache_refresh_tokens.generation THEN excluded.sealed
                    ELSE attache_refresh_tokens.sealed END,
                generation = CASE WHEN excluded.generation > attache_refresh_tokens.generation THEN excluded.generation
                    ELSE attache_refresh_tokens.generation END,
                claimed_until = excluded.claimed_until, used_at = excluded.used_at
            """,
            [
                .text(row.family.name), .bytes(row.family.fingerprintBytes), row.sealed.map { .bytes($0) } ?? .null,
                .integer(Int64(row.generation)), .time(end ?? 0), .time(now),
            ])
    }

    /// A row of a store's tokens.
    struct Row: Sendable {
        let grant: CredentialVersion
        /// The token sealed with the store's data key, for this grant only.
        let sealed: [UInt8]
        /// The expiry. `renewsAt` is the time to renew.
        let endsAt: WallTime
        let renewsAt: WallTime
        let generation: Int

        init(_ token: TokenStore.FetchedToken, sealedWith key: SealingKey) throws(CryptoError) {
            sealed = try key.seal(token.token, for: Self.context(token.grant).span)
            grant = token.grant
            endsAt = token.endsAt
            renewsAt = token.renewsAt
            generation = token.generation
        }

        init?(row: some DatabaseRow) {
            guard let name = row.text(0),
                let grant = CredentialVersion(name: name, fingerprint: row.bytes(1) ?? [], isGrant: true),
                let sealed = row.bytes(2), let endsAt = row.time(3), let renewsAt = row.time(4),
                let generation = row.integer(5)
            else { return nil }
            self.grant = grant
            self.sealed = sealed
            self.endsAt = endsAt
            self.renewsAt = renewsAt
            self.generation = Int(clamping: generation)
        }

        /// Nil for a row of another grant, or one that was changed outside.
        func token(openedWith key: SealingKey) -> TokenStore.FetchedToken? {
            guard let token = try? key.open(sealed.span, for: Self.context(grant).span) else { return nil }
            return TokenStore.FetchedToken(
                grant: grant, token: token, endsAt: endsAt, renewsAt: renewsAt, generation: generation)
        }

        private static func context(_ grant: CredentialVersion) -> [UInt8] {
            Array("attache token \(grant.fingerprint) \(grant.name)".utf8)
        }
    }

    /// A row of a store's refresh tokens.
    struct RefreshRow: Sendable {
        let family: CredentialVersion
        /// The token that the endpoint sent last, sealed with the store's data key, for this family only; nil: the
        /// first one.
        let sealed: [UInt8]?
        let generation: Int

        init(family: CredentialVersion, sealed: [UInt8]?, generation: Int) {
            self.family = family
            self.sealed = sealed
            self.generation = generation
        }

        init(
            _ rotation: RefreshTokenFamily.Rotation, of family: CredentialVersion, sealedWith key: SealingKey
        ) throws(CryptoError) {
            self.init(
                family: family,
                sealed: try rotation.token.map { token throws(CryptoError) in
                    try key.seal(token, for: Self.context(family).span)
                }, generation: rotation.generation)
        }

        /// The rotation. A row of another family, or one that was changed outside, has no token.
        func rotation(openedWith key: SealingKey) -> RefreshTokenFamily.Rotation {
            RefreshTokenFamily.Rotation(
                generation: generation,
                token: sealed.flatMap { try? key.open($0.span, for: Self.context(family).span) })
        }

        private static func context(_ family: CredentialVersion) -> [UInt8] {
            Array("attache refresh token \(family.fingerprint) \(family.name)".utf8)
        }
    }
}
