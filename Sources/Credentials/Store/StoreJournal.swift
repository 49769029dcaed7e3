import Authentication
import Bytes
import Crypto
import Database
import IO
import Synchronization

/// The journals of accounts, learned spaces and tokens in a store.
final class StoreJournal: Sendable {
    private let writer: WriteBehind
    /// Has the key that accounts and tokens are sealed under.
    private let storage: DatabaseCredentialStorage
    private let calls: StoreCalls
    /// Why an account could not be kept when that was last tried.
    private let trouble = Mutex<DatabaseError?>(nil)

    init(_ writer: WriteBehind, _ storage: DatabaseCredentialStorage, calls: StoreCalls = StoreCalls()) {
        self.writer = writer
        self.storage = storage
        self.calls = calls
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

extension StoreJournal: AccountJournal {
    var isAttached: Bool { true }

    func change(
        _ own: SharedAccount, _ change: @escaping @Sendable (inout Account) -> (Account.Seat, [Account.Decision])
    ) async -> SharedAccount.Change? {
        guard AccountTables.mayKeep(own.version) else { return nil }
        let transaction = AccountTransaction(own: own, key: storage.dataKey, change: change)
        return await calls.run { isWanted in
            do throws(DatabaseError) {
                let result = try self.carryOut(transaction, while: isWanted)
                self.trouble.withLock { $0 = nil }
                return result
            } catch {
                self.note(error)
                return nil
            }
        }
    }

    private func carryOut(
        _ transaction: AccountTransaction, while isWanted: @Sendable () -> Bool
    ) throws(DatabaseError) -> SharedAccount.Change {
        // Most events of a version that is not sent change nothing, and write nothing.
        let look = try writer.read { connection throws(DatabaseError) in try transaction.outcome(connection) }
        if look.row == nil { return look.change() }
        return try writer.write { connection, revision throws(DatabaseError) in
            let outcome = try transaction.outcome(connection)
            // The process has decided alone by now.
            guard isWanted() else { throw .stopped }
            guard let row = outcome.row else { return outcome.change() }
            try AccountTables.put(row, on: LearnedTables.today, at: revision, connection)
            return outcome.change(at: revision)
        }
    }

    /// Reports what no wait ends. A store that is away is the follower's to report.
    private func note(_ error: DatabaseError) {
        switch error {
        case .unavailable, .stopped: return
        case .failed, .full, .unusable: break
        }
        let isNews = trouble.withLock { trouble in
            defer { trouble = error }
            return trouble != error
        }
        if isNews {
            writer.report(
                "cannot count refused logins in the credential store, so this proxy counts for itself: \(error)")
        }
    }

    func replaced(by version: CredentialVersion, isRenewal: Bool) {
        let key = storage.dataKey
        writer.submit { connection, revision throws(DatabaseError) in
            try AccountTables.replace(
                with: version, isRenewal: isRenewal, key, on: LearnedTables.today, at: revision, connection)
        }
    }
}

extension StoreJournal: SpaceJournal {
    func learned(_ space: LearnedSpace) {
        guard LearnedTables.mayKeep(space.space) else { return }
        let day = LearnedTables.today
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
