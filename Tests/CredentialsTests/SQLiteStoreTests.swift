import Authentication
import Crypto
import Database
import Foundation
import Testing

@testable import Credentials

/// What a store in a file does besides.
@Suite struct SQLiteStoreTests {
    private let space = ProtectionSpace(
        origin: Origin(host: "host", port: 80, protocol: .http), realm: "r", authenticationMethod: .basic)

    private func credential(_ user: String, _ password: String) -> Credential {
        Credential(name: "any", user: user, password: Secret(password), persistence: .permanent)
    }

    @Test func `what was kept is there after a restart, and nobody else can read the file`() async throws {
        let path = try StoreFile.temporary()
        let first = try DatabaseCredentialStorage(sqlite: path, key: StoreFile.key(1))
        try await first.setDefault(credential("alice", "correct horse battery"), for: space)
        let second = try DatabaseCredentialStorage(sqlite: path, key: StoreFile.key(1))
        let kept = try await second.defaultCredential(for: space)
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
        let first = try DatabaseCredentialStorage(sqlite: path, key: StoreFile.key(1))
        try await first.set(credential("alice", "p"), for: space)
        let (right, wrong) = (try StoreFile.key(1), try StoreFile.key(2))
        #expect(throws: CredentialStoreError.wrongKey(needed: right.id, given: wrong.id)) {
            try DatabaseCredentialStorage(sqlite: path, key: wrong)
        }
        let again = try DatabaseCredentialStorage(sqlite: path, key: right)
        #expect(try await again.credentials(for: space).keys.sorted() == ["alice"])
    }

    @Test func `a row that was moved to another space is refused`() async throws {
        let path = try StoreFile.temporary()
        let store = try DatabaseCredentialStorage(sqlite: path, key: StoreFile.key(1))
        try await store.set(credential("alice", "p"), for: space)
        try SQLiteDatabase(path: path).rows("UPDATE credentials SET host = 'evil'")
        #expect(throws: CredentialStoreError.foreignRow(user: "alice", host: "evil")) {
            try DatabaseCredentialStorage(sqlite: path, key: StoreFile.key(1))
        }
    }

    @Test func `another process's changes are taken over, and told`() async throws {
        let path = try StoreFile.temporary()
        let ours = try DatabaseCredentialStorage(sqlite: path, key: StoreFile.key(1))
        let theirs = try DatabaseCredentialStorage(sqlite: path, key: StoreFile.key(1))
        try await ours.set(credential("alice", "old"), for: space)
        try await ours.set(credential("bob", "b"), for: space)
        try theirs.refresh()
        var changes = theirs.changes().makeAsyncIterator()
        try await ours.set(credential("alice", "new"), for: space)
        try theirs.refresh()
        #expect(await changes.next() == CredentialChange(.set, space: space, user: "alice"))
        try await ours.remove(user: "bob", for: space)
        try theirs.refresh()
        #expect(await changes.next() == CredentialChange(.removed, space: space, user: "bob"))
        try await ours.setDefault(credential("alice", "new"), for: space)
        try theirs.refresh()
        #expect(await changes.next() == CredentialChange(.madeDefault, space: space, user: "alice"))
        #expect(try await theirs.defaultCredential(for: space)?.password == Secret("new"))
    }

    @Test func `the store's key is wrapped anew while somebody uses it`() async throws {
        let path = try StoreFile.temporary()
        let running = try DatabaseCredentialStorage(sqlite: path, key: StoreFile.key(1))
        try await running.set(credential("alice", "p"), for: space)
        try StoreKey.rewrap(SQLiteCredentialDatabase(path: path), from: StoreFile.key(1), to: StoreFile.key(2))
        try await running.set(credential("bob", "p"), for: space)
        #expect(throws: CredentialStoreError.self) {
            try DatabaseCredentialStorage(sqlite: path, key: StoreFile.key(1))
        }
        let restarted = try DatabaseCredentialStorage(sqlite: path, key: StoreFile.key(2))
        #expect(try await restarted.credentials(for: space).keys.sorted() == ["alice", "bob"])
    }

    @Test func `a store of a later version is left alone`() throws {
        let path = try StoreFile.temporary()
        try SQLiteDatabase(path: path).rows("PRAGMA user_version = 99")
        #expect {
            try DatabaseCredentialStorage(sqlite: path, key: StoreFile.key(1))
        } throws: { error in
            "\(error)".contains("later version")
        }
    }
}
