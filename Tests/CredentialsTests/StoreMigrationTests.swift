import Authentication
import Bytes
import Crypto
import Database
import Foundation
import IO
import Model
import Testing

@testable import Credentials

/// A store that is copied into another.
struct StoreMigrationTests {
    private static let space = ProtectionSpace(
        origin: Origin(host: "host", port: 80, protocol: .http), realm: "r", authenticationMethod: .basic)

    enum Kind: CaseIterable {
        case sqlite, postgresql

        func make() throws -> any CredentialDatabase {
            switch self {
            case .sqlite: try SQLiteCredentialDatabase(path: StoreFile.temporary())
            case .postgresql:
                try PostgreSQLCredentialDatabase(PostgreSQLServer.shared.newDatabase())
            }
        }
    }

    static let directions: [(Kind, Kind)] = Kind.allCases.flatMap { from in Kind.allCases.map { (from, $0) } }

    private func open(_ database: any CredentialDatabase, _ key: SealingKey) throws -> CredentialStore {
        try CredentialStore(
            database, key: key, pool: .shared, fingerprintKey: { _ in }, report: { Issue.record("\($0)") })
    }

    private func credential(_ user: String, _ password: String) -> Credential {
        Credential(name: "any", user: user, password: Secret(password), persistence: .permanent)
    }

    /// Two credentials, what servers have said of one of them, and a row in each of the other tables.
    private func filled(_ kind: Kind, _ key: SealingKey) throws -> any CredentialDatabase {
        let database = try kind.make()
        let store = try open(database, key)
        try store.put(credential("ann", "one"), for: Self.space, asDefault: true)
        try store.put(credential("bób", "two \u{1}"), for: Self.space, asDefault: false)
        let version = try #require(store.credential(of: "ann", for: Self.space)).version
        let account = Account(earlier: [], acceptedBy: ["http://host:80"], at: 0)
        let row = try #require(
            AccountTables.Row(account, of: version, broughtBy: nil, sealedWith: store.dataKey()))
        try database.write { connection, revision throws(DatabaseError) in
            try AccountTables.put(row, on: LearnedTables.today, at: revision, connection)
            try connection.rows(
                "INSERT INTO attache_refusals (\(CredentialStore.Migration.Table.refusals.columns)) VALUES "
                    + "('h', 1, 'http', 0, '', 'basic', 'n', $1, 1, 2, 3)", [.bytes([0, 255])])
            try connection.rows(
                "INSERT INTO attache_spaces (\(CredentialStore.Migration.Table.spaces.columns), revision) VALUES "
                    + "('h', 1, 'http', 0, '', 'basic', $1, $1, 7, $2)", [.bytes([0, 1, 255]), .integer(revision)])
            try connection.rows(
                "INSERT INTO attache_tokens (\(CredentialStore.Migration.Table.tokens.columns), revision) VALUES ('n', $1, $1, 5, 4, 3, $2)",
                [.bytes([0, 255]), .integer(revision)])
            try connection.rows(
                "INSERT INTO attache_refresh_tokens (\(CredentialStore.Migration.Table.refreshTokens.columns)) VALUES ('n', $1, $1, 3, 9)",
                [.bytes([0, 255])])
        }
        return database
    }

    private func answers(_ store: CredentialStore) -> [String] {
        store.credentials.map { kept in
            let password = kept.credential.password?.withBytes { $0.text } ?? ""
            return "\(kept.credential.version) \(password) \(kept.isDefault)"
        }.sorted()
    }

    @Test(arguments: directions)
    func `all of it is there, under the other's key`(from: Kind, to: Kind) throws {
        let (ours, theirs) = (try StoreFile.key(1), try StoreFile.key(2))
        let source = try filled(from, ours)
        let destination = try to.make()
        let copied = try CredentialStore.Migration.run(from: source, ours, to: destination, theirs, replacing: false)
        #expect(copied == CredentialStore.Migration(credentials: 2, accounts: 1, spaces: 1, tokens: 1))
        let (before, after) = (try open(source, ours), try open(destination, theirs))
        #expect(answers(after) == answers(before))
        #expect(after.storage.defaultCredential(for: Self.space)?.user == "ann")
        // The account is that of the value that was accepted.
        let version = try #require(after.credential(of: "ann", for: Self.space)).version
        #expect(after.accounts.hasAccepted(version, at: "http://host:80"))
        #expect(throws: CredentialStore.Failure.wrongKey(needed: theirs.id, given: ours.id)) {
            try open(destination, ours)
        }
    }

    @Test(arguments: Kind.allCases)
    func `a store that holds something is left alone, unless it is told to be replaced`(kind: Kind) throws {
        let (ours, theirs) = (try StoreFile.key(1), try StoreFile.key(2))
        let source = try filled(.sqlite, ours)
        let destination = try kind.make()
        try open(destination, theirs).put(credential("eve", "x"), for: Self.space, asDefault: true)
        #expect(throws: CredentialStore.Failure.notEmpty(credentials: 1)) {
            try CredentialStore.Migration.run(from: source, ours, to: destination, theirs, replacing: false)
        }
        #expect(answers(try open(destination, theirs)).count == 1)
        _ = try CredentialStore.Migration.run(from: source, ours, to: destination, theirs, replacing: true)
        #expect(answers(try open(destination, theirs)) == answers(try open(source, ours)))
    }

    @Test(arguments: Kind.allCases, [0, 2, 6])
    func `a copy that is stopped leaves the destination as it was, and begins again`(kind: Kind, item: Int) throws {
        let (ours, theirs) = (try StoreFile.key(1), try StoreFile.key(2))
        let source = try filled(.sqlite, ours)
        let destination = try kind.make()
        try open(destination, theirs).put(credential("eve", "x"), for: Self.space, asDefault: true)
        let before = answers(try open(destination, theirs))
        #expect(throws: CredentialStore.Failure.database(.stopped)) {
            try CredentialStore.Migration.run(
                from: source, ours, to: destination, theirs, replacing: true, observedBy: StoppedBefore(item: item))
        }
        #expect(answers(try open(destination, theirs)) == before)
        _ = try CredentialStore.Migration.run(from: source, ours, to: destination, theirs, replacing: true)
        #expect(answers(try open(destination, theirs)) == answers(try open(source, ours)))
    }

    @Test(arguments: Kind.allCases, [0, 1, 2])
    func `of many credentials nothing is kept where somebody stops it`(kind: Kind, item: Int) throws {
        let key = try StoreFile.key(1)
        let database = try kind.make()
        let store = try open(database, key)
        let batch = ["ann", "bob"].map { CredentialStore.Entry(credential($0, "x"), for: Self.space, isDefault: false) }
        #expect(throws: StoredCredentials.Failure.stopped) {
            try store.put(batch, observedBy: StoppedBefore(item: item))
        }
        #expect(store.entries.isEmpty)
        #expect(try open(database, key).entries.isEmpty)
        try store.put(batch, observedBy: Unobserved())
        #expect(try open(database, key).entries.count == 2)
    }

    @Test func `a row that does not open, or a wrong key, and nothing is copied`() throws {
        let (ours, theirs) = (try StoreFile.key(1), try StoreFile.key(2))
        let source = try filled(.sqlite, ours)
        let destination = try Kind.sqlite.make()
        #expect(throws: CredentialStore.Failure.wrongKey(needed: ours.id, given: theirs.id)) {
            try CredentialStore.Migration.run(from: source, theirs, to: destination, theirs, replacing: false)
        }
        try source.write { connection, _ throws(DatabaseError) in
            _ = try connection.rows("UPDATE attache_credentials SET host = 'elsewhere' WHERE \"user\" = 'ann'")
        }
        #expect(throws: CredentialStore.Failure.foreignRow(user: "ann", host: "elsewhere")) {
            try CredentialStore.Migration.run(from: source, ours, to: destination, theirs, replacing: false)
        }
        #expect(
            try destination.read { connection throws(DatabaseError) in
                try CredentialStore.Migration.Contents(connection)
            }.isEmpty
        )
    }

    /// A table that is added later must be copied as well.
    @Test func `no table is forgotten`() throws {
        let own: Set<String> = ["attache_store_key", "attache_revision", "attache_removals", "attache_events"]
        let names = try Kind.sqlite.make().read { connection throws(DatabaseError) in
            try connection.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'attache%'")
        }.compactMap { $0.first?.text }
        #expect(Set(names).subtracting(own) == Set(CredentialStore.Migration.Table.allCases.map(\.rawValue)))
        for table in CredentialStore.Migration.Table.allCases {
            let columns = try Kind.sqlite.make().read { connection throws(DatabaseError) in
                try connection.rows("SELECT name FROM pragma_table_info('\(table.rawValue)')")
            }.compactMap { $0.first?.text }
            let copied = table.columns.split(separator: ", ").map { String($0).replacing("\"", with: "") }
            #expect(Set(columns).subtracting(["revision", "number", "claimed_until"]) == Set(copied), "\(table)")
        }
    }

    @Test(arguments: Kind.allCases)
    func `a store of the first version is brought up to date, with all that is in it`(kind: Kind) throws {
        let path = try StoreFile.temporary()
        let info = kind == .postgresql ? try PostgreSQLServer.shared.newDatabase() : ""
        let reopened = { () throws -> any CredentialDatabase in
            switch kind {
            case .sqlite: try SQLiteCredentialDatabase(path: path)
            case .postgresql: try PostgreSQLCredentialDatabase(info)
            }
        }
        let key = try StoreFile.key(1)
        let refused = CredentialVersion(name: "ci", fingerprint: 1)
        let database = try reopened()
        try open(database, key).put(credential("ann", "one"), for: Self.space, asDefault: true)
        try database.write { connection, revision throws(DatabaseError) in
            try EarlierVersion.refuse(refused, in: Self.space, nextTry: 2, connection)
            // What the second version added.
            for table in ["revision", "removals", "spaces", "tokens", "refresh_tokens", "events", "accounts"] {
                try connection.rows("DROP TABLE attache_\(table)")
            }
            for index in ["credentials_revision", "refusals_name"] {
                try connection.rows("DROP INDEX attache_\(index)")
            }
            for column in ["revision", "kind"] {
                try connection.rows("ALTER TABLE attache_credentials DROP COLUMN \(column)")
            }
            for column in ["since", "next_try", "retries"] {
                try connection.rows("ALTER TABLE attache_refusals DROP COLUMN \(column)")
            }
            try connection.rows(
                kind == .sqlite ? "PRAGMA user_version = 1" : "UPDATE attache_schema SET version = 1")
        }
        let (right, wrong) = (try StoreFile.key(1), try StoreFile.key(2))
        let version = { () throws -> Int64? in
            try reopened().read { connection throws(DatabaseError) in
                try connection.rows(kind == .sqlite ? "PRAGMA user_version" : "SELECT version FROM attache_schema")
                    .first?.first?.integer
            }
        }
        // An earlier program with the right key still can open it.
        #expect(throws: CredentialStore.Failure.wrongKey(needed: right.id, given: wrong.id)) {
            try open(try reopened(), wrong)
        }
        #expect(throws: CredentialStore.Failure.wrongKey(needed: right.id, given: wrong.id)) {
            try CredentialStore.Migration.run(
                from: try reopened(), wrong, to: try Kind.sqlite.make(), right, replacing: false)
        }
        #expect(try version() == 1)
        let store = try open(try reopened(), key)
        #expect(try version() == 7)
        #expect(store.defaultUser(for: Self.space) == "ann")
        #expect(store.credential(of: "ann", for: Self.space)?.password == Secret("one"))
        #expect(store.accounts.all.map(\.version) == [refused])
        #expect(store.accounts.hold(on: refused, at: "http://host:80", now: SystemClock.wallTime) != nil)
        try store.put(credential("bob", "two"), for: Self.space, asDefault: true)
        #expect(try open(try reopened(), key).entries.count == 2)
        let copied = try CredentialStore.Migration.run(
            from: try reopened(), right, to: try Kind.sqlite.make(), wrong, replacing: false)
        #expect(copied.credentials == 2)
    }
}

/// Stops the work before an item, counted from 0; the number of all items: before it is kept.
private struct StoppedBefore: WorkObserver {
    let item: Int

    func continues(after done: Int, of total: Int) -> Bool { done < item }
}
