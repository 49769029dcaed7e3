import Authentication
import Bytes
import Crypto
import Database
import IO

/// The journals of refusals, learned spaces and tokens in a store. Nobody waits for what is written.
final class StoreJournal: Sendable {
    private let writer: WriteBehind
    /// Has the key that tokens are sealed under.
    private let storage: DatabaseCredentialStorage

    init(_ writer: WriteBehind, _ storage: DatabaseCredentialStorage) {
        self.writer = writer
        self.storage = storage
    }
}

extension StoreJournal: RefusalJournal {
    func parked(_ entry: ParkedCredentials.Entry, for term: ParkedCredentials.Term) {
        writer.submit { connection, revision throws(DatabaseError) in
            try CredentialTables.add(entry, for: term, at: revision, connection)
        }
    }

    /// While the store is away nobody claims anything: the other processes may not be.
    func claim(
        _ entry: ParkedCredentials.Entry, seen: ParkedCredentials.Term, until next: ParkedCredentials.Term
    ) async -> Bool {
        let writer = writer
        return await BlockingPool.shared.run {
            let isOurs = try? writer.write { connection, revision throws(DatabaseError) in
                try CredentialTables.claim(entry, seen: seen, until: next, at: revision, connection)
            }
            return isOurs ?? false
        }
    }

    func replaced(by version: CredentialVersion) {
        writer.submit { connection, revision throws(DatabaseError) in
            try CredentialTables.removeRefusals(before: version, at: revision, connection)
        }
    }

    func unparked(_ entries: [ParkedCredentials.Entry]) {
        writer.submit { connection, revision throws(DatabaseError) in
            try CredentialTables.remove(entries, at: revision, connection)
        }
    }
}

extension StoreJournal: SpaceJournal {
    func learned(_ space: LearnedSpace) {
        guard LearnedTables.mayKeep(space.space) else { return }
        let day = Int64(SystemClock.epochMilliseconds / LearnedTables.dayLength)
        writer.submit { connection, revision throws(DatabaseError) in
            try LearnedTables.put(space, on: day, at: revision, connection)
        }
    }
}

extension StoreJournal: TokenJournal {
    func fetched(_ token: FetchedToken) {
        guard let row = try? StoredToken(token, sealedWith: storage.dataKey) else { return }
        let now = SystemClock.epochMilliseconds
        writer.submit { connection, revision throws(DatabaseError) in
            try LearnedTables.put(row, at: revision, now: now, connection)
        }
    }
}
