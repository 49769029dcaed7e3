import Authentication
import Bytes
import Crypto
import Database
import Foundation
import Model
import Synchronization
import TestSupport
import Testing

@testable import Credentials

/// The special behaviour of a store in a file.
@Suite struct SQLiteStoreTests {
    private let space = ProtectionSpace(
        origin: Origin(host: "host", port: 80, protocol: .http), realm: "r", authenticationMethod: .basic)

    private func credential(_ user: String, _ password: String) -> Credential {
        Credential(name: "any", user: user, password: Secret(password), persistence: .permanent)
    }

    @Test func `a kept credential is there after a restart, and no other user can read the file`() async throws {
        let path = try StoreFile.temporary()
        let first = try StoreFile.open(path)
        try await first.storage.setDefault(credential("alice", "correct horse battery"), for: space)
        let second = try StoreFile.open(path)
        let kept = second.storage.defaultCredential(for: space)
        #expect(kept?.user == "alice")
        #expect(kept?.password == Secret("correct horse battery"))
        #expect(kept?.persistence == .permanent)
        for name in [path, path + "-wal"] {
            let mode = try FileManager.default.attributesOfItem(atPath: name)[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
            let content = try Data(contentsOf: URL(filePath: name))
            #expect(content.range(of: Data("correct horse".utf8)) == nil)
        }
    }

    @Test func `a wrong key opens nothing, touches nothing, and says which key is needed`() async throws {
        let path = try StoreFile.temporary()
        let first = try StoreFile.open(path)
        try await first.storage.set(credential("alice", "p"), for: space)
        let (right, wrong) = (try StoreFile.key(1), try StoreFile.key(2))
        #expect(throws: CredentialStore.Failure.wrongKey(needed: right.id, given: wrong.id)) {
            try StoreFile.open(path, wrong)
        }
        let again = try StoreFile.open(path, right)
        #expect(again.storage.credentials(for: space).keys.sorted() == ["alice"])
    }

    @Test func `a row that was moved to another space answers nothing there, and is spoken of once`() async throws {
        let path = try StoreFile.temporary()
        let store = try StoreFile.open(path)
        try await store.storage.setDefault(credential("alice", "p"), for: space)
        try await store.storage.set(credential("bob", "p"), for: space)
        try SQLiteDatabase(path: path).rows("UPDATE attache_credentials SET host = 'evil' WHERE \"user\" = 'alice'")
        let said = Mutex<[String]>([])
        let moved = try CredentialStore(
            sqlite: path, key: StoreFile.key(1), fingerprintKey: { _ in },
            report: { text in said.withLock { $0.append(text) } })
        let evil = ProtectionSpace(
            origin: Origin(host: "evil", port: 80, protocol: .http), realm: "r", authenticationMethod: .basic)
        for _ in 1...2 { #expect(moved.storage.defaultCredential(for: evil) == nil) }
        #expect(said.withLock { $0 } == ["\(CredentialStore.Failure.foreignRow(user: "alice", host: "evil"))"])
        #expect(moved.storage.credentials(for: space).keys.sorted() == ["bob"])
    }

    @Test func `another process's changes are taken over, and told`() async throws {
        let path = try StoreFile.temporary()
        let ours = try StoreFile.open(path)
        let theirs = try StoreFile.open(path)
        try await ours.storage.set(credential("alice", "old"), for: space)
        try await ours.storage.set(credential("bob", "b"), for: space)
        try theirs.follow(within: 0)
        var changes = theirs.storage.changes().makeAsyncIterator()
        try await ours.storage.set(credential("alice", "new"), for: space)
        try theirs.follow(within: 0)
        #expect(await changes.next() == StoredCredentials.Change(.set, space: space, user: "alice"))
        try await ours.storage.remove(user: "bob", for: space)
        try theirs.follow(within: 0)
        #expect(await changes.next() == StoredCredentials.Change(.removed, space: space, user: "bob"))
        try await ours.storage.setDefault(credential("alice", "new"), for: space)
        try theirs.follow(within: 0)
        #expect(await changes.next() == StoredCredentials.Change(.madeDefault, space: space, user: "alice"))
        #expect(theirs.storage.defaultCredential(for: space)?.password == Secret("new"))
    }

    @Test func `the store's key is wrapped anew while somebody uses it`() async throws {
        let path = try StoreFile.temporary()
        let running = try StoreFile.open(path)
        try await running.storage.set(credential("alice", "p"), for: space)
        try CredentialStore.rewrap(.sqlite, path, from: StoreFile.key(1), to: StoreFile.key(2))
        try await running.storage.set(credential("bob", "p"), for: space)
        #expect(throws: CredentialStore.Failure.self) {
            try StoreFile.open(path)
        }
        let restarted = try StoreFile.open(path, StoreFile.key(2))
        #expect(restarted.storage.credentials(for: space).keys.sorted() == ["alice", "bob"])
    }

    @Test func `a store of a later version is left alone`() throws {
        let path = try StoreFile.temporary()
        try SQLiteDatabase(path: path).rows("PRAGMA user_version = 99")
        #expect {
            try StoreFile.open(path)
        } throws: { error in
            "\(error)".contains("later version")
        }
    }
}
