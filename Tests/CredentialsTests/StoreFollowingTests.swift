import Authentication
import Crypto
import Database
import Foundation
import Testing

@testable import Credentials

/// What processes that share a store learn from each other, beside its credentials.
@Suite struct StoreFollowingTests {
    private let space = ProtectionSpace(
        origin: Origin(host: "host", port: 80, protocol: .http), realm: "r", authenticationMethod: .basic)

    private func set(_ user: String, _ password: String, in store: CredentialStore) throws {
        let credential = Credential(name: "any", user: user, password: Secret(password), persistence: .permanent)
        try store.put(credential, for: space, asDefault: true)
    }

    private func eventually(_ condition: () throws -> Bool) throws -> Bool {
        for _ in 0..<200 {
            if try condition() { return true }
            usleep(25_000)
        }
        return false
    }

    @Test func `a refusal of an old value parks no newer one, and the same password set again is newer`() throws {
        let path = try StoreFile.temporary()
        let (ours, theirs) = (try StoreFile.open(path), try StoreFile.open(path))
        try set("alice", "p", in: ours)
        let first = try #require(ours.storage.version(of: "alice", for: space))
        try theirs.follow(within: 0)
        try set("alice", "p", in: theirs)
        let second = try #require(theirs.storage.version(of: "alice", for: space))
        #expect(first != second)
        // We have not heard of it, and were refused with the first.
        ours.spaces.parked.park(first, for: space)
        ours.spaces.parked.park(CredentialVersion(name: "other", fingerprint: 1), for: space)
        let names = { try StoreFile.open(path).spaces.parked.entries.map(\.version.name) }
        #expect(try eventually { try names() == ["other"] })
        try ours.follow(within: 0)
        #expect(ours.storage.version(of: "alice", for: space) == second)
        ours.spaces.parked.park(second, for: space)
        #expect(try eventually { try names() == ["other", "alice@host:80"] })
        try set("alice", "p", in: theirs)
        #expect(try names() == ["other"])
    }

    @Test func `extents and accepted versions are kept and followed`() throws {
        let path = try StoreFile.temporary()
        let (ours, theirs) = (try StoreFile.open(path), try StoreFile.open(path))
        let version = CredentialVersion(name: "ci", fingerprint: .max / 3)
        let learned = LearnedSpace(
            space: space, extents: [.prefixes([Array("/a/".utf8)]), .prefixes([Array("/b/c/".utf8)])],
            accepted: [version])
        StoreJournalProbe.learned(learned, in: ours)
        let covers = { (store: CredentialStore, path: String) in
            let known = store.spaces.known(host: "host".utf8Span.span, port: 80, protocol: .http)
            return known?.space(covering: path.utf8Span.span)?.hasAccepted(version) == true
        }
        #expect(
            try eventually {
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
        #expect(try await theirs.storage.credentials(for: space).keys.sorted() == ["b"])
    }

    @Test func `what cannot be written now is written when the store is back`() throws {
        let path = try StoreFile.temporary()
        let ours = try StoreFile.open(path)
        rename(path, path + ".away")
        ours.spaces.parked.park(CredentialVersion(name: "ci", fingerprint: 1), for: space)
        usleep(100_000)
        #expect(throws: CredentialStoreError.self) { try ours.follow(within: 0) }
        #expect(throws: CredentialStorageError.self) { try set("alice", "p", in: ours) }
        rename(path + ".away", path)
        #expect(
            try eventually {
                try ours.follow(within: 0)
                return try StoreFile.open(path).spaces.parked.entries.map(\.version.name) == ["ci"]
            })
    }
}

/// Says what a proxy says when an answer was accepted.
private enum StoreJournalProbe {
    static func learned(_ space: LearnedSpace, in store: CredentialStore) {
        StoreJournal(store.writer, store.kept).learned(space)
    }
}
