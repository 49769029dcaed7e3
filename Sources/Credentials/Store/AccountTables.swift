import Authentication
import Bytes
import Crypto
import Database

/// A store's table of accounts: what servers have said of versions of credentials.
enum AccountTables {
    private static let columns = "name, fingerprint, owner, revision, sealed"
    private static let isVersion = "name = $1 AND fingerprint = $2"
    /// The value of `owner` for those that no client brought.
    private static let isOwn = "owner = ''"
    /// Stands behind the name of a grant in its row: the tokens of that name have rows of their own.
    fileprivate static let grantMark = " (grant)"

    /// Days that an account is kept without a change.
    private static let memory: Int64 = 30
    /// Accounts of credentials of the rule file and the store.
    static let capacity = 4096
    /// Accounts of credentials that clients brought, and those of one client.
    static let broughtCapacity = 1024
    static let ownerCapacity = 32

    /// Whether an account gets a row: an index has no room for a name of any length.
    static func mayKeep(_ version: CredentialVersion) -> Bool {
        version.name.utf8.count <= 1024 && !version.name.utf8.contains(0)
    }

    static func row(
        of version: CredentialVersion, _ connection: some SQLConnection
    ) throws(DatabaseError) -> AccountTables.Row? {
        try connection.rows("SELECT \(columns) FROM attache_accounts WHERE \(isVersion)", version.columns)
            .first.flatMap { AccountTables.Row(row: $0) }
    }

    /// The rows that were changed since a revision, and not too long ago.
    static func rows(
        since revision: Int64, on day: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) -> [AccountTables.Row] {
        var rows: [AccountTables.Row] = []
        try connection.forEachRow(
            "SELECT \(columns) FROM attache_accounts WHERE revision > $1 AND day >= $2 ORDER BY revision",
            [.integer(revision), .integer(day - memory)]
        ) { row throws(DatabaseError) in
            if let row = AccountTables.Row(row: row) { rows.append(row) }
        }
        return rows
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

    /// Removes the rows that were changed longest ago.
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

    /// The account of the credential's value before, if a server has accepted it.
    static func former(
        of version: CredentialVersion, _ key: SealingKey, _ connection: some SQLConnection
    ) throws(DatabaseError) -> Account? {
        let rows = try connection.rows(
            "SELECT \(columns) FROM attache_accounts WHERE name = $1 AND fingerprint <> $2 AND \(isOwn) "
                + "ORDER BY revision DESC LIMIT 4", version.columns)
        return rows.compactMap { AccountTables.Row(row: $0)?.account(openedWith: key) }.first(where: \.isProven)
    }

    /// A credential has a new value: the accounts of the values before go, after they have helped the new one's.
    ///
    /// - Parameter isRenewal: whether it means the same as the value before.
    static func replace(
        with version: CredentialVersion, isRenewal: Bool, _ key: SealingKey, on day: Int64, at revision: Int64,
        _ connection: some SQLConnection
    ) throws(DatabaseError) {
        guard mayKeep(version) else { return }
        if try row(of: version, connection) == nil, try hasOther(than: version, connection) {
            // It gets a row in any case: by that a late answer with the value before finds that it is one.
            let account = try former(of: version, key, connection).map { former in
                isRenewal ? Account(renewing: former) : Account(after: former)
            }
            if let row = AccountTables.Row(account ?? Account(), of: version, broughtBy: nil, sealedWith: key) {
                try put(row, on: day, at: revision, connection)
            }
        }
        try connection.rows(
            "DELETE FROM attache_accounts WHERE name = $1 AND fingerprint <> $2 AND \(isOwn)", version.columns)
        // The tokens of another grant are void, too; a grant outlives its tokens.
        if !isRenewal {
            let other = version.isGrant ? version.name : version.name + grantMark
            try connection.rows("DELETE FROM attache_accounts WHERE name = $1 AND \(isOwn)", [.text(other)])
        }
    }

    /// The credential is gone.
    static func remove(_ name: String, _ connection: some SQLConnection) throws(DatabaseError) {
        try connection.rows("DELETE FROM attache_accounts WHERE name = $1 AND \(isOwn)", [.text(name)])
    }
}

extension AccountTables {
    /// A row of a store's accounts.
    struct Row: Sendable {
        let version: CredentialVersion
        /// The client that brought the credential along.
        let owner: String?
        let revision: Int64
        /// The account under the store's data key, for this version only: its samples are requests, which may hold secrets.
        let sealed: [UInt8]

        /// Bytes of a box.
        static let limit = 65536
        /// Letters of a client's name that are kept.
        private static let ownerLength = 256

        /// Nil where it cannot be sealed.
        init?(_ account: Account, of version: CredentialVersion, broughtBy owner: String?, sealedWith key: SealingKey) {
            self.init(Self.content(of: account), of: version, broughtBy: owner, sealedWith: key)
        }

        /// - Parameter content: as `content(of:)` returned it.
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
                let sealed = row.bytes(4),
                let version = CredentialVersion(
                    inAccounts: name, fingerprint: row.bytes(1) ?? [], isOwn: owner.isEmpty)
            else { return nil }
            self.version = version
            self.owner = owner.isEmpty ? nil : owner
            self.revision = revision
            self.sealed = sealed
        }

        /// The bytes of an account that are sealed.
        static func content(of account: Account) -> [UInt8] { account.encoded(within: limit - SealingKey.overhead) }

        /// Nil for a row that is another's, or was changed outside.
        func content(openedWith key: SealingKey) -> [UInt8]? {
            let context = Self.context(version)
            return (try? key.open(sealed.span, for: context.span))?.withBytes { $0.array }
        }

        /// Nil for a row that cannot be read: it counts as none.
        func account(openedWith key: SealingKey) -> Account? {
            content(openedWith: key).flatMap { Account(encoded: $0) }
        }

        func shared(openedWith key: SealingKey) -> SharedAccount? {
            account(openedWith: key).map { SharedAccount(version, broughtBy: owner, $0, revision: revision) }
        }

        private static func context(_ version: CredentialVersion) -> [UInt8] {
            Array("attache account \(version.fingerprint) \(version.name)".utf8)
        }
    }
}

extension CredentialVersion {
    /// Name, fingerprint.
    var columns: [DatabaseValue] {
        [.text(isGrant ? name + AccountTables.grantMark : name), .bytes(fingerprintBytes)]
    }

    /// - Parameters:
    ///   - name: as a row has it.
    ///   - isOwn: whether no client brought the credential.
    fileprivate convenience init?(inAccounts name: String, fingerprint: [UInt8], isOwn: Bool) {
        let isGrant = isOwn && name.hasSuffix(AccountTables.grantMark)
        let name = isGrant ? String(name.dropLast(AccountTables.grantMark.count)) : name
        self.init(name: name, fingerprint: fingerprint, isGrant: isGrant)
    }
}
