import Authentication
import Bytes
import Crypto
import Database

/// A store's table of accounts: the verdicts of servers on versions of credentials.
enum AccountTables {
    private static let columns = "name, fingerprint, owner, revision, sealed"
    private static let isVersion = "name = $1 AND fingerprint = $2"
    /// The condition for accounts of credentials that no client sent.
    private static let isOwn = "owner = ''"
    /// The suffix of a grant's name in its row: the tokens with that name have rows of their own.
    fileprivate static let grantMark = " (grant)"

    /// The days for which an account is kept without a change.
    private static let memory: Int64 = 30
    /// The limit of accounts for credentials of the rule file and the store.
    static let capacity = 4096
    /// The limit of accounts for credentials that clients sent; `ownerCapacity` is for one client.
    static let broughtCapacity = 1024
    static let ownerCapacity = 32

    /// Whether an account gets a row: an index cannot store names of any length.
    static func mayKeep(_ version: CredentialVersion) -> Bool {
        version.name.utf8.count <= 1024 && !version.name.utf8.contains(0)
    }

    static func row(
        of version: CredentialVersion, _ connection: some SQLConnection
    ) throws(DatabaseError) -> AccountTables.Row? {
        try connection.rows("SELECT \(columns) FROM attache_accounts WHERE \(isVersion)", version.columns)
            .first.flatMap { AccountTables.Row(row: $0) }
    }

    /// The rows changed since a revision that are not too old.
    static func rows(
        since revision: Int64, on day: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) -> [AccountTables.Row] {
        try connection.values(
            of: "SELECT \(columns) FROM attache_accounts WHERE revision > $1 AND day >= $2 ORDER BY revision",
            [.integer(revision), .integer(day - memory)]
        ) { AccountTables.Row(row: $0) }
    }

    static func put(
        _ row: AccountTables.Row, on day: Int64, at revision: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) {
        let isThere = try connection.rows(
            "UPDATE attache_accounts SET sealed = $3, day = $4, revision = $5 WHERE \(isVersion) RETURNING day",
            row.version.columns + [.bytes(row.sealed), .integer(day), .integer(revision)])
        if !isThere.isEmpty { return }
        try connection.rows(
            "INSERT INTO attache_accounts (name, fingerprint, owner, day, revision, sealed) "
                + "VALUES ($1, $2, $3, $4, $5, $6)",
            row.version.columns + [.text(row.owner ?? ""), .integer(day), .integer(revision), .bytes(row.sealed)])
        try connection.rows("DELETE FROM attache_accounts WHERE day < $1", [.integer(day - memory)])
        guard let owner = row.owner else { return try trim(isOwn, to: capacity, connection) }
        try trim("owner = $1", [.text(owner)], to: ownerCapacity, connection)
        try trim("owner <> ''", to: broughtCapacity, connection)
    }

    /// Removes the rows with the oldest changes.
    private static func trim(
        _ condition: String, _ values: [DatabaseValue] = [], to count: Int, _ connection: some SQLConnection
    ) throws(DatabaseError) {
        try connection.rows(
            """
            DELETE FROM attache_accounts WHERE (name, fingerprint) IN
                (SELECT name, fingerprint FROM attache_accounts WHERE \(condition)
                ORDER BY revision DESC LIMIT 1000000 OFFSET \(count))
            """, values)
    }

    // MARK: - Other values

    /// Whether there is an account of another value of the credential.
    static func hasOther(
        than version: CredentialVersion, _ connection: some SQLConnection
    ) throws(DatabaseError) -> Bool {
        try !connection.rows(
            "SELECT revision FROM attache_accounts WHERE name = $1 AND fingerprint <> $2 AND \(isOwn) LIMIT 1",
            version.columns
        ).isEmpty
    }

    /// The account of the credential's former value, if a server has accepted it.
    static func former(
        of version: CredentialVersion, _ key: SealingKey, _ connection: some SQLConnection
    ) throws(DatabaseError) -> Account? {
        let rows = try connection.rows(
            "SELECT \(columns) FROM attache_accounts WHERE name = $1 AND fingerprint <> $2 AND \(isOwn) "
                + "ORDER BY revision DESC LIMIT 4", version.columns)
        return rows.compactMap { AccountTables.Row(row: $0)?.account(openedWith: key) }.first(where: \.isProven)
    }

    /// Handles a credential's new value: the accounts of former values are removed, after they were used for the new
    /// one's.
    ///
    /// - Parameter isRenewal: whether the new value is equivalent to the former one.
    static func replace(
        with version: CredentialVersion, isRenewal: Bool, _ key: SealingKey, on day: Int64, at revision: Int64,
        _ connection: some SQLConnection
    ) throws(DatabaseError) {
        guard mayKeep(version) else { return }
        if try row(of: version, connection) == nil, try hasOther(than: version, connection) {
            // It gets a row in any case, so that a late answer with the former value can be recognised.
            let account = try former(of: version, key, connection).map { former in
                isRenewal ? Account(renewing: former) : Account(after: former)
            }
            if let row = AccountTables.Row(account ?? Account(), of: version, broughtBy: nil, sealedWith: key) {
                try put(row, on: day, at: revision, connection)
            }
        }
        try connection.rows(
            "DELETE FROM attache_accounts WHERE name = $1 AND fingerprint <> $2 AND \(isOwn)", version.columns)
        // The tokens of another grant become invalid too; a grant outlives its tokens.
        if !isRenewal {
            let other = version.isGrant ? version.name : version.name + grantMark
            try connection.rows("DELETE FROM attache_accounts WHERE name = $1 AND \(isOwn)", [.text(other)])
        }
    }

    /// Handles the removal of a credential.
    static func remove(_ name: String, _ connection: some SQLConnection) throws(DatabaseError) {
        try connection.rows("DELETE FROM attache_accounts WHERE name = $1 AND \(isOwn)", [.text(name)])
    }

    /// A row of a store's accounts.
    struct Row: Sendable {
        let version: CredentialVersion
        /// The client that sent the credential.
        let owner: String?
        let revision: Int64
        /// The account sealed with the store's data key, for this version only: its samples are requests, which may
        /// contain secrets.
        let sealed: [UInt8]

        /// The limit of a box in bytes.
        static let limit = 65536
        /// The limit of a client's name in characters.
        private static let ownerLength = 256

        /// Nil if the account cannot be sealed.
        init?(_ account: Account, of version: CredentialVersion, broughtBy owner: String?, sealedWith key: SealingKey) {
            self.init(Self.content(of: account), of: version, broughtBy: owner, sealedWith: key)
        }

        /// - Parameter content: the result of `content(of:)`.
        init?(_ content: [UInt8], of version: CredentialVersion, broughtBy owner: String?, sealedWith key: SealingKey) {
            var content = content
            let context = Self.context(version)
            guard let sealed = try? key.seal(Secret(wiping: &content), for: context.span) else { return nil }
            self.version = version
            self.owner = owner.map { String($0.prefix(Self.ownerLength).filter { $0 != "\0" }) }
            self.sealed = sealed
            revision = 0
        }

        /// Reads a row: name, fingerprint, owner, revision, sealed.
        init?(row: some DatabaseRow) {
            guard let name = row.text(0), let owner = row.text(2), let revision = row.integer(3),
                let sealed = row.bytes(4)
            else { return nil }
            let isGrant = owner.isEmpty && name.hasSuffix(grantMark)
            let plainName = isGrant ? String(name.dropLast(grantMark.count)) : name
            let version = CredentialVersion(name: plainName, fingerprint: row.bytes(1) ?? [], isGrant: isGrant)
            guard let version else { return nil }
            self.version = version
            self.owner = owner.isEmpty ? nil : owner
            self.revision = revision
            self.sealed = sealed
        }

        /// The bytes of an account that are sealed.
        static func content(of account: Account) -> [UInt8] { account.encoded(within: limit - SealingKey.overhead) }

        /// Nil for a row of another version, or one that was changed outside.
        func content(openedWith key: SealingKey) -> [UInt8]? {
            (try? key.open(sealed.span, for: Self.context(version).span))?.withBytes { $0.array }
        }

        /// The account; nil for a row that cannot be read, which counts as missing.
        func account(openedWith key: SealingKey) -> Account? {
            content(openedWith: key).flatMap { Account(encoded: $0) }
        }

        func shared(openedWith key: SealingKey) -> Account.Shared? {
            account(openedWith: key).map { Account.Shared(version, broughtBy: owner, $0, revision: revision) }
        }

        private static func context(_ version: CredentialVersion) -> [UInt8] {
            Array("attache account \(version.fingerprint) \(version.name)".utf8)
        }
    }
}

extension CredentialVersion {
    /// The name of its account's row.
    var accountName: String { isGrant ? name + AccountTables.grantMark : name }

    /// The columns: name, fingerprint.
    var columns: [DatabaseValue] {
        [.text(accountName), .bytes(fingerprintBytes)]
    }
}
