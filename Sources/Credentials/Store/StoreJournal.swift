import Authentication
import Bytes
import Crypto
import Database
import IO
import Synchronization

/// The journals of accounts, learned spaces and tokens in a store. Without a store they belong to the process alone.
final class StoreJournal: Accounts.Journal, ProtectionSpaces.Journal, TokenStore.Journal {
    private let attached = AtomicLazyReference<WriteBehind>()
    /// The storage, which has the key that seals accounts and tokens.
    private let storage: StoredCredentials
    private let calls: StoreCalls
    /// The reason why the last attempt to store an account failed.
    private let trouble = Mutex<DatabaseError?>(nil)
    /// The latest value of each credential whose value was replaced, by the name in `AccountTables`.
    private let latest = Mutex<[String: CredentialVersion]>([:])

    init(_ storage: StoredCredentials, calls: StoreCalls = StoreCalls()) {
        self.storage = storage
        self.calls = calls
    }

    /// Writes to the store from now on. One store at most.
    func attach(_ writer: WriteBehind) { _ = attached.storeIfNil(writer) }

    var isAttached: Bool { attached.load() != nil }

    /// The store, with the key of its rows; nil without a store.
    private var store: (writer: WriteBehind, key: SealingKey)? {
        guard let writer = attached.load(), let key = storage.dataKey else { return nil }
        return (writer, key)
    }

    /// Stores an event for the other processes.
    func noted(_ event: AuditEvent) {
        guard event.space.map(LearnedTables.mayKeep) ?? true else { return }
        let audit = storage.audit
        attached.load()?.submit { connection, revision throws(DatabaseError) in
            try EventTable.put([event], of: audit, at: revision, connection)
        }
    }

    // MARK: - Accounts

    func change(
        _ own: Account.Shared, _ change: @escaping @Sendable (inout Account) -> (Account.Seat, [Account.Decision])?
    ) async -> Account.Shared.Change? {
        guard let (writer, key) = store, AccountTables.mayKeep(own.version) else { return nil }
        let transaction = StoreJournal.AccountTransaction(own: own, key: key, change: change)
        return await calls.run { isWanted in
            do throws(DatabaseError) {
                let result = try Self.carryOut(transaction, by: writer, while: isWanted)
                self.trouble.withLock { $0 = nil }
                return result
            } catch {
                self.note(error, report: writer.report)
                return nil
            }
        }
    }

    private static func carryOut(
        _ transaction: StoreJournal.AccountTransaction, by writer: WriteBehind, while isWanted: @Sendable () -> Bool
    ) throws(DatabaseError) -> Account.Shared.Change {
        // Most events of a doubted version change nothing, and so write nothing.
        let look = try writer.database.read { connection throws(DatabaseError) in try transaction.outcome(connection) }
        if look.row == nil { return look.change() }
        return try writer.database.write { connection, revision throws(DatabaseError) in
            let outcome = try transaction.outcome(connection)
            // The process has decided alone meanwhile.
            guard isWanted() else { throw .stopped }
            guard let row = outcome.row else { return outcome.change() }
            try AccountTables.put(row, on: LearnedTables.today, at: revision, connection)
            return outcome.change(at: revision)
        }
    }

    /// Reports an error that does not end by itself. The follower reports an unavailable store.
    private func note(_ error: DatabaseError, report: (String) -> Void) {
        switch error {
        case .unavailable, .stopped: return
        case .failed, .full, .unusable: break
        }
        let isNews = trouble.withLock { trouble in
            defer { trouble = error }
            return trouble != error
        }
        if isNews {
            report(
                "cannot count refused logins in the credential store, so this proxy counts for itself: \(error)")
        }
    }

    func replaced(by version: CredentialVersion, isRenewal: Bool) {
        guard let (writer, key) = store else { return }
        let name = version.accountName
        latest.withLock { $0[name] = version }
        writer.submit { connection, revision throws(DatabaseError) in
            // If the store was away or slow, it may have an account of a later value.
            guard self.latest.withLock({ $0[name] == version }) else { return }
            try AccountTables.replace(
                with: version, isRenewal: isRenewal, key, on: LearnedTables.today, at: revision, connection)
        }
    }

    // MARK: - Spaces

    func learned(_ space: ProtectionSpaces.LearnedSpace) {
        guard LearnedTables.mayKeep(space.space) else { return }
        let day = LearnedTables.today
        attached.load()?.submit { connection, revision throws(DatabaseError) in
            try LearnedTables.put(space, on: day, at: revision, connection)
        }
    }

    // MARK: - Tokens

    func fetched(_ token: TokenStore.FetchedToken) {
        guard let (writer, key) = store, let row = try? TokenTables.Row(token, sealedWith: key) else { return }
        let now = SystemClock.wallTime
        writer.submit { connection, revision throws(DatabaseError) in
            try TokenTables.put(row, at: revision, now: now, connection)
        }
    }

    /// While the store is away the process claims nothing: the other processes may reach it.
    func claim(_ renewal: TokenStore.RenewalClaim) async -> TokenStore.RenewalClaim.Outcome {
        guard let (writer, key) = store else { return .granted(renewal.known) }
        return await BlockingPool.shared.run {
            let family = renewal.family.version
            guard let row = try? TokenTables.RefreshRow(renewal.known, of: family, sealedWith: key) else {
                return .unavailable("it cannot be sealed")
            }
            do throws(DatabaseError) {
                // A process that must wait for another one writes nothing.
                let outcome = try writer.database.read { connection throws(DatabaseError) in
                    try Self.outcome(of: renewal, by: family, key, connection)
                }
                guard case .granted = outcome else { return outcome }
                return try writer.database.write { connection, _ throws(DatabaseError) in
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
        of renewal: TokenStore.RenewalClaim, by family: CredentialVersion, _ key: SealingKey,
        _ connection: some SQLConnection
    ) throws(DatabaseError) -> TokenStore.RenewalClaim.Outcome {
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
        _ family: RefreshTokenFamily, at rotation: RefreshTokenFamily.Rotation, with token: TokenStore.FetchedToken?
    ) async {
        guard let (writer, key) = store,
            let refreshRow = try? TokenTables.RefreshRow(rotation, of: family.version, sealedWith: key)
        else { return }
        let now = SystemClock.wallTime
        let tokenRow = token.flatMap { try? TokenTables.Row($0, sealedWith: key) }
        await BlockingPool.shared.run {
            let write: WriteBehind.Write = { connection, revision throws(DatabaseError) in
                if let tokenRow { try TokenTables.put(tokenRow, at: revision, now: now, connection) }
                try TokenTables.put(refreshRow, claimedUntil: nil, now: now, connection)
            }
            do throws(DatabaseError) { try writer.database.write(write) } catch { writer.submit(write) }
        }
    }
}
