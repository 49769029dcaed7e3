import Authentication
import Bytes
import Crypto
import Database
import Foundation
import IO
import Model
import Synchronization
import Testing

@testable import Credentials

/// Rows that are not as this version writes them: each is left out by its name, and all others count.
struct StoreRowTests {
    private static let space = ProtectionSpace(
        origin: Origin(host: "host", port: 80, protocol: .http), realm: "r", authenticationMethod: .basic)

    /// A store that several processes open, each by itself.
    private func shared(_ kind: StoreMigrationTests.Kind) throws -> () throws -> any CredentialDatabase {
        switch kind {
        case .sqlite:
            let path = try StoreFile.temporary()
            return { try SQLiteCredentialDatabase(path: path) }
        case .postgresql:
            let info = try PostgreSQLServer.shared.newDatabase()
            return { try PostgreSQLCredentialDatabase(info) }
        }
    }

    private func open(_ database: any CredentialDatabase, _ said: Said) throws -> CredentialStore {
        try CredentialStore(
            database, key: StoreFile.key(1), pool: .shared, fingerprintKey: { _ in }, report: { said.add($0) })
    }

    private func set(_ user: String, _ password: String, in store: CredentialStore) throws {
        let credential = Credential(name: "any", user: user, password: Secret(password), persistence: .permanent)
        try store.put(credential, for: Self.space, asDefault: true)
    }

    private func follow(_ store: CredentialStore, _ isDone: (CredentialStore) -> Bool) throws {
        for _ in 0..<20 where !isDone(store) { try store.follow(within: 1000) }
    }

    /// A row that another version of this program, or a person, may write.
    private struct Row: CustomStringConvertible, Sendable {
        let description: String
        let columns: String
        var kinds = StoreMigrationTests.Kind.allCases
    }

    private static let sqlite: [StoreMigrationTests.Kind] = [.sqlite]

    private static let unreadable = [
        Row(description: "its method is 'passkey'", columns: "'odd', 80, 'http', 0, '=r', 'passkey', 'eve', 0, $1"),
        Row(description: "its port is '-5'", columns: "'odd', -5, 'http', 0, '=r', 'basic', 'eve', 0, $1"),
        Row(description: "its port is '65536'", columns: "'odd', 65536, 'http', 0, '=r', 'basic', 'eve', 0, $1"),
        Row(description: "its protocol is 'gopher'", columns: "'odd', 80, 'gopher', 0, '=r', 'basic', 'eve', 0, $1"),
        Row(description: "its realm or its", columns: "'odd', 80, 'http', 0, 'r', 'basic', 'eve', 0, $1"),
        Row(
            description: "its realm is not UTF-8 text",
            columns: "'odd', 80, 'http', 0, CAST(x'3dff' AS TEXT), 'basic', 'eve', 0, $1", kinds: sqlite),
        Row(
            description: "its port is 'many'", columns: "'odd', 'many', 'http', 0, '=r', 'basic', 'eve', 0, $1",
            kinds: sqlite),
        Row(
            description: "its content was not written", columns: "'odd', 80, 'http', 0, '=r', 'basic', 'eve', 0, 'p'",
            kinds: sqlite),
    ]

    private static func insertion(_ columns: String) -> String {
        "INSERT INTO attache_credentials (\(CredentialStore.Migration.Table.credentials.columns), revision) VALUES (\(columns), 'password', $2)"
    }

    @Test(arguments: StoreMigrationTests.Kind.allCases)
    func `a row that cannot be read is left out by name, once, and all others are followed`(
        kind: StoreMigrationTests.Kind
    ) throws {
        let connect = try shared(kind)
        let database = try connect()
        let (said, others) = (Said(), Said())
        let (ours, theirs) = (try open(connect(), said), try open(connect(), others))
        try set("alice", "old", in: theirs)
        try ours.follow(within: 5000)
        let rows = Self.unreadable.filter { $0.kinds.contains(kind) }
        for row in rows {
            try database.write { connection, revision throws(DatabaseError) in
                _ = try connection.rows(Self.insertion(row.columns), [.bytes([1]), .integer(revision)])
            }
            try set("alice", row.description, in: theirs)
            try follow(ours) { $0.storage.defaultCredential(for: Self.space)?.password == Secret(row.description) }
            #expect(ours.storage.defaultCredential(for: Self.space)?.password == Secret(row.description), "\(row)")
            #expect(said.all.last?.contains("eve for odd, because \(row.description)") == true, "\(said.all)")
        }
        #expect(said.all.count == rows.count, "\(said.all)")
        // A process that starts, and `credential set`, go on as well: one report names them all.
        let late = Said()
        let store = try open(connect(), late)
        #expect(store.entries.map(\.user) == ["alice"])
        try set("bob", "p", in: store)
        #expect(late.all.count == 1 && late.all[0].hasPrefix(rows.count.description), "\(late.all)")
        try follow(ours) { $0.credential(of: "bob", for: Self.space) != nil }
        #expect(ours.credential(of: "bob", for: Self.space)?.password == Secret("p"))
        #expect(said.all.count == rows.count)
    }

    @Test(arguments: StoreMigrationTests.Kind.allCases)
    func `a copy of a store names the row that this version cannot read`(kind: StoreMigrationTests.Kind) throws {
        let (source, destination) = (try kind.make(), try kind.make())
        let key = try StoreFile.key(1)
        try set("alice", "p", in: open(source, Said()))
        try source.write { connection, revision throws(DatabaseError) in
            _ = try connection.rows(Self.insertion(Self.unreadable[1].columns), [.bytes([1]), .integer(revision)])
        }
        #expect(
            throws: CredentialStore.Failure.unreadableRow(
                user: "eve", host: "odd", cause: Self.unreadable[1].description)
        ) {
            try CredentialStore.Migration.run(from: source, key, to: destination, key, replacing: false)
        }
    }

    @Test func `the former value of an unreadable row is not used again, and the row can be removed`()
        throws
    {
        let path = try StoreFile.temporary()
        let said = Said()
        let database = try SQLiteCredentialDatabase(path: path)
        let store = try open(database, said)
        try set("alice", "old", in: store)
        try database.write { connection, revision throws(DatabaseError) in
            _ = try connection.rows(
                "UPDATE attache_credentials SET sealed = 'later', revision = $1", [.integer(revision)])
        }
        try store.follow(within: 0)
        #expect(store.storage.defaultCredential(for: Self.space) == nil)
        #expect(said.all.count == 1)
        #expect(store.holds("alice", for: Self.space))
        try store.remove(user: "alice", for: Self.space)
        #expect(!store.holds("alice", for: Self.space))
        #expect(try open(database, Said()).entries.isEmpty)
    }

    @Test func `a row that cannot be read can be set anew, and is read by everybody then`() throws {
        let connect = try shared(.sqlite)
        let database = try connect()
        let said = Said()
        let store = try open(database, said)
        try set("alice", "old", in: store)
        try database.write { connection, revision throws(DatabaseError) in
            _ = try connection.rows(
                "UPDATE attache_credentials SET is_default = 'perhaps', revision = $1", [.integer(revision)])
        }
        let other = try open(connect(), said)
        #expect(other.entries.isEmpty)
        let credential = Credential(name: "any", user: "alice", password: Secret("new"), persistence: .permanent)
        try other.put(credential, for: Self.space, asDefault: false)
        try store.follow(within: 0)
        #expect(store.credential(of: "alice", for: Self.space)?.password == Secret("new"))
        #expect(try open(connect(), said).credential(of: "alice", for: Self.space)?.password == Secret("new"))
        #expect(said.all.count == 1, "\(said.all)")
    }

    @Test func `a secret that does not open is reported once, and can be removed`() throws {
        let database = try SQLiteCredentialDatabase(path: StoreFile.temporary())
        let said = Said()
        try set("alice", "p", in: open(database, said))
        try database.write { connection, revision throws(DatabaseError) in
            _ = try connection.rows(
                "UPDATE attache_credentials SET sealed = $1, revision = $2", [.bytes([7]), .integer(revision)])
        }
        let store = try open(database, said)
        for _ in 0..<3 {
            #expect(store.storage.defaultCredential(for: Self.space) == nil)
            try store.storage.replace(store.dataKey())
        }
        #expect(said.all.count == 1, "\(said.all)")
        #expect(store.holds("alice", for: Self.space))
        try store.remove(user: "alice", for: Self.space)
        #expect(!store.holds("alice", for: Self.space))
    }

    @Test(arguments: [Int64.min, -5, 0, .max - 1, .max])
    func `no number of a change ends the process`(number: Int64) throws {
        let connect = try shared(.sqlite)
        let database = try connect()
        let said = Said()
        try set("alice", "old", in: open(database, said))
        try database.write { connection, _ throws(DatabaseError) in
            _ = try connection.rows("UPDATE attache_revision SET latest = $1, forgotten = $1", [.integer(number)])
            _ = try connection.rows("UPDATE attache_credentials SET revision = $1", [.integer(number)])
        }
        let store = try open(database, said)
        let other = try open(connect(), said)
        #expect(store.entries.map(\.user) == ["alice"])
        if number == .max {
            #expect {
                try set("alice", "new", in: store)
            } throws: { error in
                "\(error)".contains("no number left")
            }
        } else {
            try set("alice", "new", in: store)
            // At the end of the range this is one change too many, which says so.
            _ = try? set("bob", "p", in: store)
            _ = try? store.remove(user: "bob", for: Self.space)
            try other.follow(within: 0)
            #expect(other.credential(of: "alice", for: Self.space)?.password == Secret("new"))
        }
        #expect(said.all == [])
    }

    @Test(arguments: [-5, Int64.min, 99, .max])
    func `a schema of no known version is refused`(version: Int64) throws {
        let path = try StoreFile.temporary()
        _ = try StoreFile.open(path)
        try SQLiteDatabase(path: path).rows("PRAGMA user_version = \(Int32(clamping: version))")
        #expect(throws: CredentialStore.Failure.self) { try StoreFile.open(path) }
        let info = try PostgreSQLServer.shared.newDatabase()
        _ = try PostgreSQLServer.shared.open(info)
        try PostgreSQLConnection(info).rows(
            "UPDATE attache_schema SET version = $1", [.integer(Int64(Int32(clamping: version)))])
        #expect(throws: CredentialStore.Failure.self) { try PostgreSQLServer.shared.open(info) }
    }

    /// A row of an earlier version, which kept the host as the user had spelled it.
    private static func put(
        _ password: String, of user: String, for space: ProtectionSpace, spelled host: String,
        in database: any CredentialDatabase, of store: CredentialStore
    ) throws {
        let credential = Credential(name: "any", user: user, password: Secret(password), persistence: .permanent)
        let content = try #require(StoredCredential.Content.secret(of: credential))
        let context = StoredCredential.context(space, spelled: host, user: user)
        let box = try store.dataKey().seal(content, for: context.span)
        try database.write { connection, revision throws(DatabaseError) in
            _ = try connection.rows(
                insertion("$3, 80, 'http', 0, '=r', 'basic', $4, 1, $1"),
                [.bytes(box), .integer(revision), .text(host), .text(user)])
        }
    }

    private static let ipv6 = ProtectionSpace(
        origin: Origin(host: "::1", port: 80, protocol: .http), realm: "r", authenticationMethod: .basic)

    @Test(arguments: StoreMigrationTests.Kind.allCases)
    func `a row with another spelling of its host is found by the canonical one, and rewritten with it`(
        kind: StoreMigrationTests.Kind
    ) throws {
        let connect = try shared(kind)
        let database = try connect()
        let said = Said()
        let (running, writer) = (try open(connect(), said), try open(connect(), said))
        try Self.put("p", of: "alice", for: Self.ipv6, spelled: "0:0:0:0:0:0:0:1", in: database, of: writer)
        try Self.put("q", of: "bob", for: Self.space, spelled: "host.", in: database, of: writer)
        // For one that runs, and for one that starts.
        try follow(running) { $0.storage.defaultCredential(for: Self.ipv6) != nil }
        for store in [running, try open(connect(), said)] {
            #expect(store.storage.defaultCredential(for: Self.ipv6)?.password == Secret("p"))
            #expect(store.storage.defaultCredential(for: Self.space)?.password == Secret("q"))
            #expect(store.entries.count == 2)
        }
        let hosts = try database.read { connection throws(DatabaseError) in
            try connection.rows("SELECT host FROM attache_credentials ORDER BY host").map { $0.first?.text }
        }
        #expect(hosts == ["::1", "host"])
        // All know one version, and a removal is for good.
        try running.remove(user: "alice", for: Self.ipv6)
        #expect(try open(connect(), said).entries.map(\.user) == ["bob"])
        #expect(said.all == [])
    }

    @Test func `a row with another spelling gives way to the one with the canonical spelling`() throws {
        let connect = try shared(.sqlite)
        let database = try connect()
        let said = Said()
        let store = try open(connect(), said)
        try set("alice", "new", in: store)
        try Self.put("old", of: "alice", for: Self.space, spelled: "host.", in: database, of: store)
        try Self.put("other", of: "bob", for: Self.space, spelled: "host.", in: database, of: store)
        for store in [try open(connect(), said), store] {
            try store.follow(within: 0)
            #expect(store.storage.defaultCredential(for: Self.space)?.password == Secret("new"))
            #expect(store.credential(of: "bob", for: Self.space)?.password == Secret("other"))
        }
        // An earlier version removes such a row without removing the one beside it.
        try database.write { connection, revision throws(DatabaseError) in
            _ = try connection.rows(
                "INSERT INTO attache_removals VALUES ($1, 'host.', 80, 'http', 0, '=r', 'basic', 'alice')",
                [.integer(revision)])
        }
        try store.follow(within: 0)
        #expect(store.storage.defaultCredential(for: Self.space)?.password == Secret("new"))
        #expect(said.all == [])
    }

    @Test func `a realm that begins with a combining mark is kept as it is`() throws {
        let realm = "\u{301}accent"
        let space = ProtectionSpace(
            origin: Origin(host: "host", port: 80, protocol: .http), realm: realm, authenticationMethod: .basic)
        let path = try StoreFile.temporary()
        let credential = Credential(name: "any", user: "ann", password: Secret("p"), persistence: .permanent)
        try StoreFile.open(path).put(credential, for: space, asDefault: true)
        #expect(try StoreFile.open(path).storage.defaultCredential(for: space)?.password == Secret("p"))
    }
}

/// The reports of a store.
final class Said: Sendable {
    private let texts = Mutex<[String]>([])
    func add(_ text: String) { texts.withLock { $0.append(text) } }
    var all: [String] { texts.withLock { $0 } }
}
