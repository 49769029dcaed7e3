import Bytes
import Crypto
import Database
import Foundation
import IO
import Model
import TestSupport
import Testing

@testable import Authentication
@testable import Credentials

/// The changes that replicas with a shared PostgreSQL store see of each other.
@Suite(.serialized) struct SharedStoreTests {
    private let server = PostgreSQLServer.shared
    private let space = ProtectionSpace(
        origin: Origin(host: "host", port: 80, protocol: .http), realm: "r", authenticationMethod: .basic)

    private func credential(_ user: String, _ password: String) -> Credential {
        Credential(name: "any", user: user, password: Secret(password), persistence: .permanent)
    }

    @Test func `a change at one replica is noticed by the others, and not by the one that made it`() async throws {
        let info = try server.newDatabase()
        let replicas = try (1...3).map { _ in try server.open(info) }
        for replica in replicas { try replica.follow(within: 0) }
        try await replicas[0].storage.setDefault(credential("alice", "p"), for: space)
        #expect(try replicas[1].follow(within: 5000))
        #expect(try replicas[2].follow(within: 5000))
        #expect(try !replicas[0].follow(within: 100))
        for replica in replicas {
            #expect(replica.storage.defaultCredential(for: space)?.password == Secret("p"))
        }
    }

    @Test func `of two replicas that begin a store at once one's key is everybody's`() async throws {
        let info = try server.newDatabase()
        let stores = try await withThrowingTaskGroup(of: CredentialStore.self) { group in
            for _ in 1...4 { group.addTask { try server.open(info) } }
            var stores: [CredentialStore] = []
            for try await store in group { stores.append(store) }
            return stores
        }
        try await stores[0].storage.set(credential("alice", "p"), for: space)
        for store in stores {
            try store.follow(within: 0)
            #expect(store.storage.credentials(for: space).keys.sorted() == ["alice"])
        }
    }

    @Test func `a wrong key opens nothing`() throws {
        let info = try server.newDatabase()
        _ = try server.open(info)
        let (right, wrong) = (try StoreFile.key(1), try StoreFile.key(2))
        #expect(throws: CredentialStore.Failure.wrongKey(needed: right.id, given: wrong.id)) {
            try server.open(info, wrong)
        }
    }

    @Test func `writers who wait for each other fail at nothing, whatever the server's own defaults are`() async throws
    {
        let info = try server.newDatabase()
        let name = try #require(info.split(separator: "dbname=").last)
        for setting in ["isolation = 'serializable'", "read_only = on"] {
            try PostgreSQLConnection(info).rows("ALTER DATABASE \(name) SET default_transaction_\(setting)")
        }
        let replicas = try (1...4).map { _ in try server.open(info) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, replica) in replicas.enumerated() {
                group.addTask {
                    for change in 0..<25 {
                        try await replica.storage.setDefault(
                            credential("user \(number)", "\(change)"), for: space)
                    }
                }
            }
            try await group.waitForAll()
        }
        for replica in replicas {
            try replica.follow(within: 0)
            #expect(replica.storage.credentials(for: space).values.allSatisfy { $0.password == Secret("24") })
        }
        #expect(Set(replicas.map { $0.defaultUser(for: space) }).count == 1)
    }

    @Test func `behind a connection that was lost there may be a copy of some other day`() async throws {
        let info = try server.newDatabase()
        let replica = try server.open(info)
        for user in ["alice", "bob"] { try replica.put(credential(user, "p"), for: space, asDefault: true) }
        try replica.follow(within: 0)
        // The numbers of the changes say nothing of it.
        let connection = try PostgreSQLConnection(info)
        try connection.rows("DELETE FROM attache_credentials WHERE \"user\" = 'bob'")
        try connection.rows("UPDATE attache_credentials SET is_default = 1")
        #expect(try !replica.follow(within: 0))
        try CredentialStore.rewrap(.postgresql, info, from: StoreFile.key(1), to: StoreFile.key(2))
        try connection.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                + "AND datname = current_database()")
        #expect(Wait.until { (try? replica.follow(within: 0)) == true })
        #expect(replica.defaultUser(for: space) == "alice")
        #expect(replica.storage.credentials(for: space).keys.sorted() == ["alice"])
    }

    @Test func `a change of which no notification tells is noticed`() throws {
        let info = try server.newDatabase()
        let replica = try server.open(info)
        try replica.put(credential("alice", "p"), for: space, asDefault: true)
        try replica.follow(within: 0)
        #expect(try !replica.follow(within: 0))
        try PostgreSQLConnection(info).rows("UPDATE attache_revision SET latest = latest + 1")
        #expect(try replica.follow(within: 0))
        #expect(try !replica.follow(within: 0))
        try replica.put(credential("bob", "p"), for: space, asDefault: true)
        #expect(try !replica.follow(within: 0))
    }

    @Test func `a server that refuses to be listened to is asked instead`() throws {
        let connection = try PostgreSQLConnection(server.newDatabase())
        #expect(try connection.listen(to: "name"))
        #expect(try !connection.listen(to: "no name"))
        #expect(try connection.rows("SELECT 1").count == 1)
    }

    @Test func `a server that only reads is none that refuses`() throws {
        let connection = try PostgreSQLConnection(server.newDatabase())
        try connection.rows("SET default_transaction_read_only = on")
        #expect {
            try connection.rows("CREATE TABLE t ()")
        } throws: { error in
            if case DatabaseError.unavailable = error { true } else { false }
        }
    }

    @Test func `a role that may make no tables uses those that are there`() throws {
        let info = try server.newDatabase()
        _ = try server.open(info)
        let name = "role\(info.split(separator: "dbname=store").last ?? "")"
        for statement in [
            "CREATE ROLE \(name) LOGIN",
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO \(name)",
            "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO \(name)",
        ] { try PostgreSQLConnection(info).rows(statement) }
        let store = try server.open(info.replacing("user=attache", with: "user=\(name)"))
        try store.put(credential("alice", "p"), for: space, asDefault: true)
        #expect(try server.open(info).defaultUser(for: space) == "alice")
    }

    @Test func `a server that stops is waited for, and what was known is still known`() async throws {
        let own = try PostgreSQLServer()
        let info = try own.newDatabase()
        let (ours, theirs) = (try own.open(info), try own.open(info))
        for replica in [ours, theirs] { try replica.follow(within: 0) }
        try await ours.storage.set(credential("alice", "p"), for: space)
        try own.stop()
        #expect(throws: CredentialStore.Failure.self) { try ours.follow(within: 100) }
        await #expect(throws: StoredCredentials.Failure.self) {
            try await ours.storage.set(credential("bob", "p"), for: space)
        }
        #expect(ours.storage.credentials(for: space).keys.sorted() == ["alice"])
        try own.start()
        let change = credential("carol", "p")
        #expect(await Wait.until { (try? await ours.storage.set(change, for: space)) != nil })
        #expect(Wait.until { (try? theirs.follow(within: 100)) == true })
        #expect(theirs.storage.credentials(for: space).keys.sorted() == ["alice", "carol"])
    }

    @Test func `while the server is away each replica counts alone, and then all go on from what was counted`()
        async throws
    {
        let own = try PostgreSQLServer()
        let info = try own.newDatabase()
        let (ours, theirs) = (
            SendingProcess(store: try own.open(info)), SendingProcess(store: try own.open(info))
        )
        for replica in [ours, theirs] { try replica.store.follow(within: 0) }
        try own.stop()
        let first = ours.ask(for: "/1", now: 1000)
        #expect(await Wait.asTask { first.attempt != nil })
        try #require(first.attempt).settle(.refused, now: 1000)
        #expect(await Wait.asTask { ours.account()?.unprovenRefusals == 1 })
        try own.start()
        #expect(await Wait.asTask { (try? ours.store.follow(within: 100)) == true })
        let second = ours.ask(for: "/2", now: 2000)
        #expect(await Wait.asTask { second.attempt != nil })
        try #require(second.attempt).settle(.refused, now: 2000)
        let areAllTold = await Wait.asTask {
            _ = try? theirs.store.follow(within: 100)
            return theirs.account()?.unprovenRefusals == 2
        }
        #expect(areAllTold)
        let third = theirs.ask(for: "/3", now: 3000)
        #expect(await Wait.asTask { third.hold == .unproven })
        try own.stop()
    }

    @Test func `a server that hangs holds up no request, and counts again when it goes on`() async throws {
        let info = try server.newDatabase()
        let process = SendingProcess(store: try server.open(info))
        let backends = try PostgreSQLConnection(info).rows(
            "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
        ).compactMap { $0.integer(0).flatMap { pid_t(exactly: $0) } }
        #expect(backends.count == 1)
        for backend in backends { kill(backend, SIGSTOP) }
        defer { for backend in backends { kill(backend, SIGCONT) } }
        let now = SystemClock.wallTime
        for target in ["/1", "/2"] {
            let asked = process.ask(for: target, now: now)
            #expect(await Wait.asTask { asked.isDecided })
            try #require(asked.attempt).settle(.refused, now: now)
            #expect(await Wait.asTask { process.account()?.reservations.isEmpty == true })
        }
        for backend in backends { kill(backend, SIGCONT) }
        let isCounted = try await Wait.asTask {
            _ = process.ask(for: "/3", now: now)
            return try process.row()?.unprovenRefusals == 2
        }
        #expect(isCounted)
    }
}
