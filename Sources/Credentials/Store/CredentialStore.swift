import Authentication
import Bytes
import Crypto
import Database
import IO
import Model
import Synchronization

/// The knowledge that a process has of credentials and spaces: its own, until a store is opened for it, and from then on what
/// the store has as well. A store may be opened while the process serves, and stays.
public final class CredentialMemory: Sendable {
    public let storage: StoredCredentials
    /// The spaces, stored as they change, like the accounts in them.
    public let spaces: ProtectionSpaces
    /// The tokens, stored as they are fetched.
    public let tokens: TokenStore
    /// The trail of changes to credentials and rules.
    public let audit: AuditTrail
    private let journal: StoreJournal

    public init(audit: AuditTrail = AuditTrail()) {
        self.audit = audit
        storage = StoredCredentials(audit: audit)
        journal = StoreJournal(storage)
        spaces = ProtectionSpaces(accounts: Accounts(journal: journal), journal: journal)
        tokens = TokenStore(journal: journal)
    }

    /// Has the journal write to a store from now on. One store at most.
    fileprivate func attach(_ writer: WriteBehind) {
        journal.attach(writer)
        // The journal's storage retains the trail.
        audit.keep { [weak journal] event in journal?.noted(event) }
    }
}

/// Everything that outlives the process: credentials with permanent persistence, the verdicts of servers on
/// credentials, learned spaces, and fetched tokens.
public final class CredentialStore: Sendable {
    /// A credential in a store.
    public struct Entry: Sendable {
        public let credential: Credential
        public let space: ProtectionSpace
        /// Whether the space's challenges are answered with it.
        public let isDefault: Bool

        public init(_ credential: Credential, for space: ProtectionSpace, isDefault: Bool) {
            self.credential = credential
            self.space = space
            self.isDefault = isDefault
        }
    }

    /// The knowledge that is stored as it changes.
    private let memory: CredentialMemory
    public var storage: StoredCredentials { memory.storage }
    public var spaces: ProtectionSpaces { memory.spaces }
    public var accounts: Accounts { spaces.accounts }
    public var tokens: TokenStore { memory.tokens }
    let writer: WriteBehind
    let database: any CredentialDatabase
    /// The key that wraps the store's own key; a store that replaces this one may have another own key.
    private let key: SealingKey
    private let progress = Mutex(Progress())

    /// Opens a store. Blocks.
    ///
    /// - Parameters:
    ///   - key: wraps the store's own key; a new store adopts it.
    ///   - memory: the process's, to which all that is in the store is added.
    ///   - fingerprintKey: given the key under which the store's processes make fingerprints of credentials, before
    ///     any credential is read.
    ///   - report: told what could not be written after the fact.
    init(
        _ database: any CredentialDatabase, key: SealingKey, memory: CredentialMemory = CredentialMemory(),
        pool: BlockingPool = .shared, fingerprintKey: (Secret) -> Void, report: @escaping @Sendable (String) -> Void
    ) throws(Failure) {
        let dataKey = try Key.dataKey(of: database, wrappedBy: key)
        fingerprintKey(dataKey.derived(for: "credential fingerprints"))
        self.database = database
        self.key = key
        self.memory = memory
        let contents = try StoredCredentials.Contents(of: database, dataKey, report: report)
        writer = WriteBehind(database, pool: pool, report: report)
        try adopt(try revision(), openedWith: dataKey)
        memory.storage.attach(contents, of: database, pool: pool, report: report)
        memory.attach(writer)
    }

    /// The progress of this process in following the store.
    private struct Progress {
        /// The changes that are still to be adopted.
        var behind = ForeignChanges.none
        /// The latest change up to which accounts, spaces and tokens are known.
        var learned = CredentialTables.beginning
        /// The latest change up to which events were logged; nil: the existing events are skipped.
        var events: Int64?

        /// Forgets the progress, since the rows are another store's, or may be.
        mutating func forget() {
            learned = CredentialTables.beginning
            events = nil
        }
    }

    /// Waits for changes of other processes, and adopts them. Blocks.
    ///
    /// - Parameter limit: the time to wait.
    /// - Returns: whether there may have been any.
    @discardableResult
    public func follow(within limit: Milliseconds) throws(Failure) -> Bool {
        let changes = try Failure.asking { () throws(DatabaseError) in
            try database.foreignChanges(within: limit)
        }
        // The store is available: pending writes are made, and changes not adopted now are adopted next time.
        writer.flush()
        accounts.catchUp(at: SystemClock.wallTime)
        let behind = progress.withLock { progress in
            progress.behind = max(progress.behind, changes)
            return progress.behind
        }
        guard behind != .none else { return false }
        if behind == .replaced { try Key.check(database, key) }
        let revision = try revision()
        let isOther = try hasOtherKey()
        if behind == .replaced || isOther || revision.latest < storage.revision {
            progress.withLock { $0.forget() }
            try storage.replace(try Key.dataKey(of: database, wrappedBy: key))
            memory.audit.note(AuditEvent(.storeReplaced, by: .proxy))
        } else if behind == .unknown {
            progress.withLock { $0.forget() }
            // The store's own key stays the same, even if another key wraps it now.
            if let dataKey = storage.dataKey { try storage.replace(dataKey) }
        } else {
            try storage.refresh(to: revision)
        }
        if let dataKey = storage.dataKey { try adopt(revision, openedWith: dataKey) }
        progress.withLock { $0.behind = .none }
        return true
    }

    /// Whether the store's own key differs, as after a migration; another wrapping key does not matter.
    private func hasOtherKey() throws(Failure) -> Bool {
        let present = try database.ask { connection throws(DatabaseError) in try CredentialTables.key(connection) }
        guard let dataKey = try? present?.dataKey(unwrappedWith: key) else { return false }
        return dataKey.id != storage.dataKey?.id
    }

    private func revision() throws(Failure) -> CredentialTables.Revision {
        try database.ask { connection throws(DatabaseError) in try CredentialTables.revision(connection) }
    }

    /// Adopts the accounts, spaces and tokens that are new since the last time.
    private func adopt(
        _ revision: CredentialTables.Revision, openedWith dataKey: SealingKey
    ) throws(Failure) {
        let known = progress.withLock { $0 }
        let now = SystemClock.wallTime
        let day = Int64(Day(of: now).number)
        let audit = memory.audit
        let (judged, learned, fetched, events) = try database.ask { connection throws(DatabaseError) in
            (
                try AccountTables.rows(since: known.learned, on: day, connection),
                try LearnedTables.spaces(since: known.learned, on: day, connection),
                try TokenTables.tokens(since: known.learned, now: now, connection),
                try known.events.map { since throws(DatabaseError) in
                    try EventTable.events(since: since, besidesThoseOf: audit, connection)
                }
            )
        }
        accounts.adopt(
            judged.compactMap { $0.shared(openedWith: dataKey) },
            ofAnotherStore: known.learned == CredentialTables.beginning, at: now)
        spaces.adopt(learned)
        for row in fetched { if let token = row.token(openedWith: dataKey) { tokens.adopt(token) } }
        progress.withLock { progress in
            progress.learned = revision.latest
            progress.events = revision.latest
        }
        for event in events ?? [] { audit.tell(event) }
    }

    /// Forgets the doubts about versions, in all processes that have the store open; it is on the disk when the call
    /// returns. Blocks.
    ///
    /// - Returns: those that something was held against.
    public func reset(
        where fits: @escaping @Sendable (CredentialVersion, Account) -> Bool
    ) throws(Failure) -> [CredentialVersion] {
        guard let dataKey = storage.dataKey else { return [] }
        let audit = memory.audit
        let day = LearnedTables.today
        let troubled = { @Sendable (connection: any SQLConnection) throws(DatabaseError) -> [Account.Shared] in
            try AccountTables.rows(since: CredentialTables.beginning, on: day, connection).compactMap { row in
                row.shared(openedWith: dataKey).flatMap {
                    $0.account.isTroubled && fits($0.version, $0.account) ? $0 : nil
                }
            }
        }
        return try Failure.asking { () throws(DatabaseError) in
            let isAny = try database.read { connection throws(DatabaseError) in try !troubled(connection).isEmpty }
            if !isAny { return [] }
            return try database.write { connection, revision throws(DatabaseError) in
                let versions = try troubled(connection).map { shared throws(DatabaseError) in
                    var account = shared.account
                    account.reset()
                    let row = AccountTables.Row(
                        account, of: shared.version, broughtBy: shared.owner, sealedWith: dataKey)
                    if let row { try AccountTables.put(row, on: day, at: revision, connection) }
                    return shared.version
                }
                let events = audit.actor.map { actor in
                    versions.map { AuditEvent(.credentialLifted, by: actor, credential: $0.name) }
                }
                try EventTable.put(events ?? [], of: audit, at: revision, connection)
                return versions
            }
        }
    }
}
