import Authentication
import Bytes
import Crypto
import Database
import IO
import Model
import TestSupport
import Testing

@testable import Credentials

/// A store with the refusals of earlier versions of this program.
struct EarlierRefusalsTests {
    private static let space = ProtectionSpace(
        origin: Origin(host: "host", port: 80, protocol: .http), realm: "r", authenticationMethod: .basic)
    private static let server = "http://host:80"

    private func open(_ database: any CredentialDatabase) throws -> CredentialStore {
        try CredentialStore(
            database, key: StoreFile.key(1), pool: .shared, fingerprintKey: { _ in },
            report: { Issue.record("\($0)") })
    }

    /// A store as the sixth version leaves it.
    private func earlier(
        _ kind: StoreMigrationTests.Kind, _ fill: @escaping @Sendable (any SQLConnection) throws(DatabaseError) -> Void
    ) throws -> any CredentialDatabase {
        let database = try kind.make()
        _ = try open(database)
        try database.write { connection, _ throws(DatabaseError) in
            try connection.rows("DROP TABLE attache_accounts")
            try connection.rows("ALTER TABLE attache_revision DROP COLUMN accounts")
            try connection.rows(
                kind == .sqlite ? "PRAGMA user_version = 6" : "UPDATE attache_schema SET version = 6")
            try fill(connection)
        }
        return database
    }

    @Test(arguments: StoreMigrationTests.Kind.allCases)
    func `refusals become accounts, once`(kind: StoreMigrationTests.Kind) throws {
        let (wrong, outage, later) = (
            CredentialVersion(name: "wrong", fingerprint: 1), CredentialVersion(name: "outage", fingerprint: 2),
            CredentialVersion(name: "later", fingerprint: 3)
        )
        let now = SystemClock.wallTime
        let tomorrow = now + 86_400_000
        let database = try earlier(kind) { connection throws(DatabaseError) in
            try EarlierVersion.refuse(wrong, in: Self.space, nextTry: 0, connection)
            try EarlierVersion.refuse(outage, in: Self.space, nextTry: 5, connection)
            try EarlierVersion.refuse(later, in: Self.space, nextTry: tomorrow, connection)
            let learned = ProtectionSpaces.LearnedSpace(
                space: Self.space, extents: [.origin], accepted: [outage, later])
            try LearnedTables.put(learned, on: LearnedTables.today, at: 2, connection)
        }
        let store = try open(database)
        let tries = { (store: CredentialStore, version: CredentialVersion) in
            store.accounts.hold(on: version, at: Self.server, now: now)
        }
        #expect(try #require(tries(store, wrong)) >= now + .minutes(30))
        #expect(store.accounts.all.first { $0.version == wrong }?.account.unprovenRefusals == 2)
        #expect((now + 30_000...now + 90_000).contains(try #require(tries(store, outage))))
        #expect(tries(store, later) == tomorrow)
        #expect(store.accounts.hasAccepted(later, at: Self.server))
        // What a process of the earlier version writes from then on is its own.
        _ = try store.reset { _, _ in true }
        try database.write { connection, _ throws(DatabaseError) in
            try EarlierVersion.refuse(
                CredentialVersion(name: "new", fingerprint: 4), in: Self.space, nextTry: 0, connection)
        }
        let reopened = try open(database)
        #expect(reopened.accounts.all.allSatisfy { !$0.account.isTroubled && $0.version.name != "new" })
        #expect(
            try database.read { connection throws(DatabaseError) in try EarlierVersion.refused(connection) }
                == ["wrong", "outage", "later", "new"])
    }

    @Test(arguments: StoreMigrationTests.Kind.allCases)
    func `they become accounts before a store is copied, and in the copy no second time`(
        kind: StoreMigrationTests.Kind
    ) throws {
        let version = CredentialVersion(name: "wrong", fingerprint: 1)
        let source = try earlier(kind) { connection throws(DatabaseError) in
            try EarlierVersion.refuse(version, in: Self.space, nextTry: 0, connection)
        }
        let (key, destination) = (try StoreFile.key(1), try kind.make())
        let copied = try CredentialStore.Migration.run(from: source, key, to: destination, key, replacing: false)
        #expect(copied.accounts == 1)
        let copy = try open(destination)
        #expect(try copy.reset { _, _ in true } == [version])
        #expect(try open(destination).accounts.troubledCount == 0)
    }
}
