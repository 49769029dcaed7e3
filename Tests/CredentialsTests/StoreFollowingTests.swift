import Authentication
import Bytes
import Crypto
import Database
import Foundation
import Model
import TestSupport
import Testing

@testable import Credentials

/// The knowledge that processes with a shared store learn from each other, beside its credentials.
@Suite struct StoreFollowingTests {
    private let space = ProtectionSpace(
        origin: Origin(host: "host", port: 80, protocol: .http), realm: "r", authenticationMethod: .basic)

    private func set(_ user: String, _ password: String, in store: CredentialStore) throws {
        let credential = Credential(name: "any", user: user, password: Secret(password), persistence: .permanent)
        try store.put(credential, for: space, asDefault: true)
    }

    @Test func `extents and accepted versions are kept and followed`() throws {
        let path = try StoreFile.temporary()
        let (ours, theirs) = (try StoreFile.open(path), try StoreFile.open(path))
        let version = CredentialVersion(name: "ci", fingerprint: .max / 3)
        let learned = ProtectionSpaces.LearnedSpace(
            space: space, extents: [.prefixes([Array("/a/".utf8)]), .prefixes([Array("/b/c/".utf8)])],
            accepted: [version])
        StoreJournalProbe.learned(learned, in: ours)
        let covers = { (store: CredentialStore, path: String) in
            let known = store.spaces.known(host: "host".utf8Span.span, port: 80, protocol: .http)
            return known?.space(covering: path.utf8Span.span)?.hasAccepted(version) == true
        }
        #expect(
            try Wait.until {
                try theirs.follow(within: 0)
                return covers(theirs, "/a/x")
            })
        #expect(covers(theirs, "/b/c/"))
        #expect(!covers(theirs, "/b/"))
        #expect(covers(try StoreFile.open(path), "/a/"))
        // Thirty-one days later it is forgotten.
        try SQLiteDatabase(path: path).rows("UPDATE attache_spaces SET day = day - 31")
        #expect(!covers(try StoreFile.open(path), "/a/"))
    }

    @Test(arguments: [(1024, true), (1025, false)])
    func `a path of 1024 bytes is kept, and a longer one is not taken for the whole server`(
        length: Int, isKept: Bool
    ) throws {
        let path = try StoreFile.temporary()
        let store = try StoreFile.open(path)
        let version = CredentialVersion(name: "ci", fingerprint: .max / 3)
        let prefix = "/\(String(repeating: "x", count: length - 2))/"
        StoreJournalProbe.learned(
            ProtectionSpaces.LearnedSpace(
                space: space, extents: [.prefixes([Array(prefix.utf8)])], accepted: [version]), in: store)
        #expect(store.settles())
        let known = try StoreFile.open(path).spaces.known(host: "host".utf8Span.span, port: 80, protocol: .http)
        let covers = { (target: String) in
            known?.space(covering: target.utf8Span.span)?.hasAccepted(version) == true
        }
        #expect(covers(prefix) == isKept)
        #expect(!covers("/"))
    }

    @Test func `while many changes are taken over nobody misses what was there before and is after`() async throws {
        let path = try StoreFile.temporary()
        let (ours, theirs) = (try StoreFile.open(path), try StoreFile.open(path))
        let users = (0..<3000).map { "user \($0)" }
        func edits(_ password: String, default chosen: String) -> [StoredCredentials.Edit] {
            users.map { user in
                .set(
                    Credential(name: "any", user: user, password: Secret(password), persistence: .permanent),
                    for: space, asDefault: user == chosen)
            }
        }
        try ours.apply(edits("old", default: users[0]))
        try theirs.follow(within: 0)
        try ours.apply([.remove(user: users[7], for: space), .remove(user: users[8], for: space)])
        try ours.apply(edits("new", default: users[2999]))
        try ours.apply([.remove(user: users[8], for: space)])
        var told = theirs.storage.changes().makeAsyncIterator()
        try theirs.follow(within: 0)
        // The new default first; and what was removed and set again was never away.
        var changes: [StoredCredentials.Change] = []
        while changes.count < 3000, let change = await told.next() { changes.append(change) }
        #expect(changes.first == StoredCredentials.Change(.madeDefault, space: space, user: users[2999]))
        #expect(changes.filter { $0.kind == .removed }.map(\.user) == [users[8]])
        #expect(theirs.defaultUser(for: space) == users[2999])
        #expect(theirs.storage.version(of: users[8], for: space) == nil)
        #expect(theirs.credentials.allSatisfy { $0.credential.password == Secret("new") })
        #expect(theirs.entries.count == 2999)
    }

    @Test func `a follower that is far behind reads everything`() async throws {
        let path = try StoreFile.temporary()
        let (ours, theirs) = (try StoreFile.open(path), try StoreFile.open(path))
        for user in ["a", "b"] { try set(user, "p", in: ours) }
        try theirs.follow(within: 0)
        try ours.remove(user: "a", for: space)
        // What was removed is on record no more.
        let database = try SQLiteDatabase(path: path)
        try database.rows("DELETE FROM attache_removals")
        try database.rows("UPDATE attache_revision SET forgotten = latest")
        try theirs.follow(within: 0)
        #expect(theirs.storage.credentials(for: space).keys.sorted() == ["b"])
    }

    /// Returns the content of a file and its log, as one file without a log.
    private func backup(_ path: String, isAlien: Bool = false) throws -> Data {
        let copy = try StoreFile.temporary()
        if isAlien {
            try set("alice", "alien", in: StoreFile.open(copy))
        } else {
            try SQLiteDatabase(path: path).rows("VACUUM INTO '\(copy)'")
        }
        return try Data(contentsOf: URL(filePath: copy))
    }

    private func writeOver(_ path: String, _ content: some DataProtocol) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: content)
        try file.close()
    }

    @Test(arguments: [0, 1, 3])
    func `a file that is written over is another store, whatever its log holds`(changes: Int) throws {
        let path = try StoreFile.temporary()
        let store = try StoreFile.open(path)
        try store.follow(within: 0)
        try set("alice", "old", in: store)
        let old = try backup(path)
        for change in 0..<changes {
            try set("alice", "new", in: store)
            if change == 1 { try SQLiteDatabase(path: path).rows("PRAGMA wal_checkpoint(TRUNCATE)") }
        }
        try set("bob", "new", in: store)
        try store.follow(within: 0)
        #expect(store.storage.defaultCredential(for: space)?.user == "bob")
        try writeOver(path, old)
        #expect(throws: StoredCredentials.Failure.self) { try set("carol", "lost", in: store) }
        #expect(try store.follow(within: 0))
        #expect(store.storage.defaultCredential(for: space)?.password == Secret("old"))
        try set("carol", "kept", in: store)
        let again = try StoreFile.open(path)
        #expect(Set(again.entries.map(\.user)) == ["alice", "carol"])
        #expect(try SQLiteDatabase(path: path).rows("PRAGMA integrity_check") == [[.text("ok")]])
    }

    @Test func `a file that is being written over is waited for`() throws {
        let path = try StoreFile.temporary()
        let store = try StoreFile.open(path)
        try store.follow(within: 0)
        try set("alice", "old", in: store)
        let old = try backup(path)
        try set("alice", "new", in: store)
        for count in [0, 50, 4096, old.count - 1] {
            try writeOver(path, old.prefix(count))
            #expect(throws: CredentialStore.Failure.self, "\(count)") { try store.follow(within: 0) }
            #expect(store.storage.defaultCredential(for: space)?.password == Secret("new"))
        }
        try writeOver(path, old)
        #expect(try store.follow(within: 0))
        #expect(store.storage.defaultCredential(for: space)?.password == Secret("old"))
    }

    @Test func `a file that is touched, or that the log is copied into, is the same store`() throws {
        let path = try StoreFile.temporary()
        let (ours, theirs) = (try StoreFile.open(path), try StoreFile.open(path))
        for round in 0..<40 {
            try set("user \(round)", "p", in: round % 2 == 0 ? ours : theirs)
            switch round % 4 {
            case 0: utimes(path, nil)
            case 1: chmod(path, 0o600)
            case 2: try SQLiteDatabase(path: path).rows("PRAGMA wal_checkpoint(PASSIVE)")
            default: try SQLiteDatabase(path: path).rows("PRAGMA wal_checkpoint(TRUNCATE)")
            }
            for store in [ours, theirs] { try store.follow(within: 0) }
        }
        for store in [ours, theirs, try StoreFile.open(path)] { #expect(store.entries.count == 40) }
    }

    @Test func `another store's content under the same key is taken over, under another key it is not`() throws {
        let path = try StoreFile.temporary()
        let ours = try StoreFile.open(path)
        try set("alice", "p", in: ours)
        try ours.follow(within: 0)
        try writeOver(path, backup(path, isAlien: true))
        #expect(try ours.follow(within: 0))
        #expect(ours.storage.defaultCredential(for: space)?.password == Secret("alien"))
        let other = try StoreFile.temporary()
        _ = try StoreFile.open(other, StoreFile.key(2))
        try writeOver(path, Data(contentsOf: URL(filePath: other)))
        #expect(throws: CredentialStore.Failure.self) { try ours.follow(within: 0) }
        #expect(ours.storage.defaultCredential(for: space)?.password == Secret("alien"))
    }

    @Test func `changes that cannot be written now are written when the store is back`() throws {
        let path = try StoreFile.temporary()
        let ours = try StoreFile.open(path)
        rename(path, path + ".away")
        StoreJournalProbe.learned(
            ProtectionSpaces.LearnedSpace(space: space, extents: [.origin], accepted: []), in: ours)
        #expect(Wait.until { ours.writer.isHeldUp })
        #expect(throws: CredentialStore.Failure.self) { try ours.follow(within: 0) }
        #expect(throws: StoredCredentials.Failure.self) { try set("alice", "p", in: ours) }
        rename(path + ".away", path)
        #expect(
            try Wait.until {
                try ours.follow(within: 0)
                let later = try StoreFile.open(path)
                return later.spaces.known(host: "host".utf8Span.span, port: 80, protocol: .http) != nil
            })
    }
}

/// Says what a proxy says when an answer was accepted.
private enum StoreJournalProbe {
    static func learned(_ space: ProtectionSpaces.LearnedSpace, in store: CredentialStore) {
        StoreJournal(store).learned(space)
    }
}
