import Authentication
import Crypto
import Database
import Foundation
import IO
import Model
import Synchronization
import Testing

@testable import Credentials

/// The behaviour of a store with data that it cannot store.
struct StoreRefusalTests {
    private static func space(_ realm: String) -> ProtectionSpace {
        ProtectionSpace(
            origin: Origin(host: "host", port: 80, protocol: .http), realm: realm, authenticationMethod: .basic)
    }

    private func open(_ kind: StoreMigrationTests.Kind, _ said: Said) throws -> CredentialStore {
        try CredentialStore(
            kind.make(), key: StoreFile.key(1), pool: .shared, fingerprintKey: { _ in }, report: { said.add($0) })
    }

    @Test(arguments: StoreMigrationTests.Kind.allCases)
    func `a change that the store refuses does not take along the others`(kind: StoreMigrationTests.Kind) throws {
        let said = Said()
        let store = try open(kind, said)
        let gate = Mutex(())
        // All of them are written at once: the first keeps the thread.
        gate.withLock { _ in
            store.writer.submit { _, _ throws(DatabaseError) in gate.withLock { _ in } }
            for name in ["one", "two", "three"] {
                StoreJournal(store).learned(
                    ProtectionSpaces.LearnedSpace(space: Self.space(name), extents: [.origin], accepted: []))
                store.writer.submit { connection, _ throws(DatabaseError) in
                    try connection.rows("INSERT INTO attache_nothing VALUES (1)")
                }
            }
        }
        #expect(store.settles())
        let kept = try store.rows("SELECT realm FROM attache_spaces ORDER BY realm")
        #expect(kept == [[.text("=one")], [.text("=three")], [.text("=two")]])
        #expect(said.all.count == 3, "\(said.all)")
        #expect(said.all.allSatisfy { $0.hasPrefix("cannot write to the credential store") }, "\(said.all)")
    }

    @Test(arguments: StoreMigrationTests.Kind.allCases)
    func `a realm that is longer than an index has room for is kept by its digest`(kind: StoreMigrationTests.Kind)
        throws
    {
        let said = Said()
        let store = try open(kind, said)
        var random = SeededGenerator(7)
        let long = String((0..<6000).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement(using: &random) ?? "a" })
        let version = CredentialVersion(name: "ci", fingerprint: 1)
        for realm in [long, "a\u{0}b", "short"] {
            let learned = ProtectionSpaces.LearnedSpace(
                space: Self.space(realm), extents: [.origin], accepted: [version])
            StoreJournal(store).learned(learned)
        }
        #expect(store.settles())
        let kept = try store.rows("SELECT realm FROM attache_spaces ORDER BY length(realm)")
        let digest = try #require(Self.space(long).realm)
        #expect(digest.utf8.count < 400)
        #expect(kept == [[.text("=short")], [.text("=\(digest)")]])
        #expect(said.all == [])
    }

    @Test(arguments: StoreMigrationTests.Kind.allCases)
    func `a user with a zero byte in the name is never taken for another`(kind: StoreMigrationTests.Kind) throws {
        let said = Said()
        let store = try open(kind, said)
        func set(_ user: String, _ password: String) throws {
            let credential = Credential(name: "any", user: user, password: Secret(password), persistence: .permanent)
            try store.put(credential, for: Self.space("r"), asDefault: false)
        }
        try set("ann", "right")
        _ = try? set("ann\u{0}x", "wrong")
        for follower in [
            store,
            try CredentialStore(
                store.database, key: StoreFile.key(1), pool: .shared, fingerprintKey: { _ in }, report: { said.add($0) }
            ),
        ] {
            #expect(follower.credential(of: "ann", for: Self.space("r"))?.password == Secret("right"))
        }
        #expect(said.all == [])
    }
}

extension CredentialStore {
    fileprivate func rows(_ sql: String) throws -> [[DatabaseValue]] {
        try database.read { connection throws(DatabaseError) in try connection.rows(sql) }
    }
}
