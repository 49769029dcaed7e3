import Authentication
import Bytes
import Crypto
import Database
import IO
import Synchronization

/// The knowledge that a process has of credentials and spaces: its own, until a store is opened for it, and from then on what
/// the store has as well. A store may be opened while the process serves, and stays.
public final class CredentialMemory: Sendable {
    public let storage: StoredCredentials
    /// Kept in the store as it changes, as are the accounts in it.
    public let spaces: ProtectionSpaces
    /// Kept in the store as they are fetched.
    public let tokens: TokenStore
    /// The changes of what may answer.
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
        // The journal's storage keeps the trail.
        audit.keep { [weak journal] event in journal?.noted(event) }
    }
}

/// All that outlives the process: credentials of permanent persistence, what servers have said of credentials, learned
/// spaces, and the tokens that were fetched.
public final class CredentialStore: Sendable {
    /// Kept in the store as they change.
    private let memory: CredentialMemory
    public var storage: StoredCredentials { memory.storage }
    public var spaces: ProtectionSpaces { memory.spaces }
    public var accounts: Accounts { spaces.accounts }
    public var tokens: TokenStore { memory.tokens }
    let writer: WriteBehind
    let database: any CredentialDatabase
    /// Wraps the store's own key; a store in its place may have another of those.
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
    ) throws(CredentialStoreError) {
        let dataKey = try StoreKey.dataKey(of: database, wrappedBy: key)
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

    /// How far this process has followed the store.
    private struct Progress {
        /// The changes that are still to be taken over.
        var behind = ForeignChanges.none
        /// Accounts, spaces and tokens up to this change are known.
        var learned = CredentialTables.beginning
        /// Events up to this change were told; nil: those that are there concern nobody.
        var events: Int64?

        /// The rows to read are another store's, or may be.
        mutating func forget() {
            learned = CredentialTables.beginning
            events = nil
        }
    }

    /// Waits for changes that other processes make, and takes them over. Blocks.
    ///
    /// - Parameter limit: milliseconds to wait.
    /// - Returns: whether there may have been any.
    @discardableResult
    public func follow(within limit: Int) throws(CredentialStoreError) -> Bool {
        let changes = try CredentialStoreError.asking { () throws(DatabaseError) in
            try database.foreignChanges(within: limit)
        }
        // The store can be reached: what waits is written, and what is not taken over now is taken over next time.
        writer.flush()
        accounts.catchUp(at: SystemClock.epochMilliseconds)
        let behind = progress.withLock { progress in
            progress.behind = max(progress.behind, changes)
            return progress.behind
        }
        guard behind != .none else { return false }
        if behind == .replaced { try StoreKey.check(database, key) }
        let revision = try revision()
        let isOther = try hasOtherKey()
        if behind == .replaced || isOther || revision.latest < storage.revision {
            progress.withLock { $0.forget() }
            try storage.replace(try StoreKey.dataKey(of: database, wrappedBy: key))
            memory.audit.note(AuditEvent(.storeReplaced, by: .proxy))
        } else if behind == .unknown {
            progress.withLock { $0.forget() }
            // The store's own key is the same, whatever it is wrapped by now.
            if let dataKey = storage.dataKey { try storage.replace(dataKey) }
        } else {
            try storage.refresh(to: revision)
        }
        if let dataKey = storage.dataKey { try adopt(revision, openedWith: dataKey) }
        progress.withLock { $0.behind = .none }
        return true
    }

    /// Whether the store's own key is another one, as after a migration; that it is wrapped by another does not matter.
    private func hasOtherKey() throws(CredentialStoreError) -> Bool {
        let present = try CredentialStoreError.asking { () throws(DatabaseError) in
            try database.read { connection throws(DatabaseError) in try CredentialTables.key(connection) }
        }
        guard let dataKey = try? present?.dataKey(unwrappedWith: key) else { return false }
        return dataKey.id != storage.dataKey?.id
    }

    private func revision() throws(CredentialStoreError) -> CredentialTables.Revision {
        try CredentialStoreError.asking { () throws(DatabaseError) in
            try database.read { connection throws(DatabaseError) in try CredentialTables.revision(connection) }
        }
    }

    /// Takes over what was judged, learned and fetched since the last time.
    private func adopt(
        _ revision: CredentialTables.Revision, openedWith dataKey: SealingKey
    ) throws(CredentialStoreError) {
        let known = progress.withLock { $0 }
        let now = SystemClock.epochMilliseconds
        let day = Int64(now / LearnedTables.dayLength)
        let audit = memory.audit
        let (judged, learned, fetched, events) = try CredentialStoreError.asking { () throws(DatabaseError) in
            try database.read { connection throws(DatabaseError) in
                (
                    try AccountTables.rows(since: known.learned, on: day, connection),
                    try LearnedTables.spaces(since: known.learned, on: day, connection),
                    try TokenTables.tokens(since: known.learned, now: now, connection),
                    try known.events.map { since throws(DatabaseError) in
                        try EventTable.events(since: since, besidesThoseOf: audit, connection)
                    }
                )
            }
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
        for event in events ?? [] { audit.take(event) }
    }

    /// Forgets what is held against versions, in all processes that have the store open; it is on the disk when the call
    /// returns. Blocks.
    ///
    /// - Returns: those that something was held against.
    public func reset(
        where fits: @escaping @Sendable (CredentialVersion, Account) -> Bool
    ) throws(CredentialStoreError) -> [CredentialVersion] {
        guard let dataKey = storage.dataKey else { return [] }
        let audit = memory.audit
        let day = LearnedTables.today
        let troubled = { @Sendable (connection: any SQLConnection) throws(DatabaseError) -> [SharedAccount] in
            try AccountTables.rows(since: CredentialTables.beginning, on: day, connection).compactMap { row in
                row.shared(openedWith: dataKey).flatMap {
                    $0.account.isTroubled && fits($0.version, $0.account) ? $0 : nil
                }
            }
        }
        return try CredentialStoreError.asking { () throws(DatabaseError) in
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

/// A credential as a store keeps it.
public struct KeptCredential: Sendable {
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
