import Authentication
import Bytes
import Crypto
import Foundation
import IO
import Model
import TestSupport
import Testing

@testable import Credentials

/// A shared store behind PgBouncer in session mode: what listens keeps a server of its own.
@Suite(.serialized) struct PgBouncerTests {
    private let space = ProtectionSpace(
        origin: Origin(host: "host", port: 80, protocol: .http), realm: "r", authenticationMethod: .basic)

    private func credential(_ user: String) -> Credential {
        Credential(name: "any", user: user, password: Secret("p"), persistence: .permanent)
    }

    /// Whether the replica comes to know the user, by following alone.
    private func learns(_ replica: CredentialStore, of user: String) -> Bool {
        Wait.until {
            _ = try? replica.follow(within: 100)
            return replica.credential(of: user, for: space) != nil
        }
    }

    /// Stores a credential once PgBouncer is there again.
    private func put(_ user: String, to replica: CredentialStore) -> Bool {
        Wait.until { (try? replica.put(credential(user), for: space, asDefault: false)) != nil }
    }

    @Test func `a change at one replica is noticed by another, also by one without it`() async throws {
        let server = PostgreSQLServer.shared
        let bouncer = try PgBouncer(server: server.port)
        let direct = try server.newDatabase()
        var opened: [CredentialStore] = []
        #expect(
            Wait.until {
                guard let store = try? server.open(bouncer.info(direct)) else { return false }
                opened.append(store)
                return opened.count == 2
            }, "\(bouncer.log)")
        let (first, second) = (try #require(opened.first), try #require(opened.last))
        let outside = try server.open(direct)
        for replica in [first, second, outside] { try replica.follow(within: 0) }
        try first.put(credential("ann"), for: space, asDefault: true)
        #expect(try second.follow(within: 5000))
        #expect(try outside.follow(within: 5000))
        #expect(try !first.follow(within: 100))
        try outside.put(credential("bob"), for: space, asDefault: false)
        #expect(try first.follow(within: 5000))
        let (sending, following) = (SendingProcess(store: first), SendingProcess(store: second))
        try await sending.isAccepted(now: 1000)
        #expect(try await following.follows { $0.isGood(at: SendingProcess.server) })
        for replica in [first, second, outside] {
            #expect(learns(replica, of: "bob"))
        }
        try bouncer.stop()
    }

    @Test func `when it or the server behind it starts again nothing stays unnoticed`() throws {
        let server = try PostgreSQLServer()
        let bouncer = try PgBouncer(server: server.port)
        let direct = try server.newDatabase()
        var opened: CredentialStore?
        #expect(
            Wait.until {
                opened = try? server.open(bouncer.info(direct))
                return opened != nil
            }, "\(bouncer.log)")
        let behind = try #require(opened)
        let outside = try server.open(direct)
        for replica in [behind, outside] { try replica.follow(within: 0) }
        try behind.put(credential("ann"), for: space, asDefault: true)
        #expect(learns(outside, of: "ann"))

        try bouncer.stop()
        #expect(throws: CredentialStore.Failure.self) { try behind.follow(within: 100) }
        #expect(throws: StoredCredentials.Failure.self) {
            try behind.put(credential("nobody"), for: space, asDefault: false)
        }
        #expect(behind.credential(of: "ann", for: space) != nil)
        // It is sent while the other side does not listen.
        try outside.put(credential("bob"), for: space, asDefault: false)
        try bouncer.start()
        #expect(learns(behind, of: "bob"), "\(bouncer.log)")
        #expect(put("carol", to: behind))
        #expect(learns(outside, of: "carol"))

        try server.stop()
        #expect(throws: CredentialStore.Failure.self) {
            for _ in 0..<50 { try behind.follow(within: 100) }
        }
        try server.start()
        #expect(put("dan", to: outside))
        #expect(learns(behind, of: "dan"), "\(bouncer.log)")
        #expect(put("eve", to: behind))
        #expect(learns(outside, of: "eve"))
        try bouncer.stop()
        try server.stop()
    }

    @Test func `a replica that was cut off goes on with what others have counted meanwhile`() async throws {
        let server = PostgreSQLServer.shared
        let bouncer = try PgBouncer(server: server.port)
        let direct = try server.newDatabase()
        var opened: CredentialStore?
        #expect(
            await Wait.asTask {
                opened = try? server.open(bouncer.info(direct))
                return opened != nil
            }, "\(bouncer.log)")
        let behind = SendingProcess(store: try #require(opened))
        let outside = SendingProcess(store: try server.open(direct))
        let now = SystemClock.wallTime
        try behind.store.follow(within: 0)
        try await behind.isAccepted(now: now)
        #expect(try await outside.follows { $0.isProven })
        try bouncer.stop()
        behind.isRefusedUnderWay(now: now)
        #expect(await Wait.asTask { behind.account()?.isTroubled == true })
        let before = try #require(try outside.row()).number
        for _ in 0..<2 { outside.isRefusedUnderWay(now: now) }
        #expect(try await Wait.asTask { try outside.row()?.number == before + 2 })
        let counted = try #require(try outside.row())
        try bouncer.start()
        let isKnown = await Wait.asTask {
            _ = try? behind.store.follow(within: 20)
            return behind.account() == counted
        }
        #expect(isKnown, "\(bouncer.log)")
        try bouncer.stop()
    }
}
