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

extension StoreJournal {
    /// Tells the other processes of an event.
    func noted(_ event: AuditEvent) {
        guard event.space.map(LearnedTables.mayKeep) ?? true else { return }
        let audit = storage.audit
        writer.submit { connection, revision throws(DatabaseError) in
            try EventTable.put([event], of: audit, at: revision, connection)
        }
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
            try TokenTables.put(row, at: revision, now: now, connection)
        }
    }

    /// While the store is away nobody claims anything: the other processes may not be.
    func claim(_ renewal: TokenRenewalClaim) async -> TokenRenewalClaim.Outcome {
        let (writer, key) = (writer, storage.dataKey)
        return await BlockingPool.shared.run {
            let family = renewal.family.version
            guard let row = try? StoredRefreshToken(renewal.known, of: family, sealedWith: key) else {
                return .unavailable("it cannot be sealed")
            }
            do throws(DatabaseError) {
                // Whoever waits for another process writes nothing.
                let outcome = try writer.read { connection throws(DatabaseError) in
                    try Self.outcome(of: renewal, by: family, key, connection)
                }
                guard case .granted = outcome else { return outcome }
                return try writer.write { connection, _ throws(DatabaseError) in
                    let outcome = try Self.outcome(of: renewal, by: family, key, connection)
                    if case .granted = outcome {
                        try TokenTables.put(row, claimedUntil: renewal.end, now: renewal.now, connection)
                    }
                    return outcome
                }
            } catch { return .unavailable("\(error)") }
        }
    }

    private static func outcome(
        of renewal: TokenRenewalClaim, by family: CredentialVersion, _ key: SealingKey,
        _ connection: some SQLConnection
    ) throws(DatabaseError) -> TokenRenewalClaim.Outcome {
        if let row = try TokenTables.token(for: renewal.grant, connection), row.generation > renewal.generation,
            renewal.now < row.renewsAt, let token = row.token(openedWith: key)
        {
            return .renewed(token)
        }
        guard let (row, isClaimed) = try TokenTables.refreshToken(of: family, now: renewal.now, connection) else {
            return .granted(renewal.known)
        }
        if isClaimed { return .taken }
        return .granted(row.generation > renewal.known.generation ? row.rotation(openedWith: key) : renewal.known)
    }

    func ended(
        _ family: RefreshTokenFamily, at rotation: RefreshTokenRotation, with token: FetchedToken?
    ) async {
        let (writer, key) = (writer, storage.dataKey)
        let now = SystemClock.epochMilliseconds
        guard let refreshRow = try? StoredRefreshToken(rotation, of: family.version, sealedWith: key) else { return }
        let tokenRow = token.flatMap { try? StoredToken($0, sealedWith: key) }
        await BlockingPool.shared.run {
            let write: WriteBehind.Write = { connection, revision throws(DatabaseError) in
                if let tokenRow { try TokenTables.put(tokenRow, at: revision, now: now, connection) }
                try TokenTables.put(refreshRow, claimedUntil: nil, now: now, connection)
            }
            do throws(DatabaseError) { try writer.write(write) } catch { writer.submit(write) }
        }
    }
}
