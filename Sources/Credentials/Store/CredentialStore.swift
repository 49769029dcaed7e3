import Authentication
import Bytes
import Crypto
import Database
import IO
import Synchronization

/// All that outlives the process: credentials of permanent persistence, what servers have said of credentials, learned spaces,
/// and the tokens that were fetched.
public final class CredentialStore: Sendable {
    public let storage: any CredentialStorage
    /// Kept in the store as they change.
    private let memory: CredentialMemory
    public var spaces: ProtectionSpaces { memory.spaces }
    public var accounts: Accounts { spaces.accounts }
    public var tokens: TokenStore { memory.tokens }
    let writer: WriteBehind
    let database: any CredentialDatabase
    /// Wraps the store's own key; a store in its place may have another of those.
    private let key: SealingKey
    private let progress = Mutex(Progress())
    let kept: DatabaseCredentialStorage

    /// Opens a store in a SQLite file, which is made if there is none. Blocks.
    ///
    /// - Parameters:
    ///   - key: wraps the store's own key; a new store adopts it.
    ///   - memory: the process's, to which all that is in the store is added.
    ///   - fingerprintKey: given the key under which the store's processes make fingerprints of credentials, before
    ///     any credential is read.
    ///   - report: told what could not be written after the fact.
    public convenience init(
        sqlite path: String, key: SealingKey, memory: CredentialMemory = CredentialMemory(),
        fingerprintKey: (Secret) -> Void, report: @escaping @Sendable (String) -> Void
    ) throws(CredentialStoreError) {
        let database = try CredentialStoreError.asking { () throws(DatabaseError) in
            try SQLiteCredentialDatabase(path: path)
        }
        try self.init(
            database, key: key, memory: memory, pool: .shared, fingerprintKey: fingerprintKey, report: report)
    }

    /// Opens a store in a PostgreSQL database that this and other processes share; its tables are made if there are none.
    /// As above.
    ///
    /// - Parameter info: libpq's connection string or URI.
    public convenience init(
        postgresql info: String, key: SealingKey, memory: CredentialMemory = CredentialMemory(),
        fingerprintKey: (Secret) -> Void, report: @escaping @Sendable (String) -> Void
    ) throws(CredentialStoreError) {
        let name: [UInt8]
        do throws(CryptoError) { name = try RandomBytes.make(8) } catch { throw .cannotSeal("\(error)") }
        let database = try CredentialStoreError.asking { () throws(DatabaseError) in
            try PostgreSQLCredentialDatabase(info, name: Hex.encode(name))
        }
        try self.init(
            database, key: key, memory: memory, pool: .shared, fingerprintKey: fingerprintKey, report: report)
    }

    init(
        _ database: any CredentialDatabase, key: SealingKey, memory: CredentialMemory = CredentialMemory(),
        pool: BlockingPool, fingerprintKey: (Secret) -> Void, report: @escaping @Sendable (String) -> Void
    ) throws(CredentialStoreError) {
        let dataKey = try StoreKey.dataKey(of: database, wrappedBy: key)
        fingerprintKey(dataKey.derived(for: "credential fingerprints"))
        self.database = database
        self.key = key
        kept = try DatabaseCredentialStorage(
            database, dataKey: dataKey, pool: pool, audit: memory.audit, report: report)
        storage = kept
        writer = WriteBehind(database, pool: pool, report: report)
        self.memory = memory
        try adopt(try revision())
        memory.attach(kept, StoreJournal(writer, kept))
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
        if behind == .replaced || isOther || revision.latest < kept.revision {
            progress.withLock { $0.forget() }
            try kept.replace(try StoreKey.dataKey(of: database, wrappedBy: key))
            memory.audit.note(AuditEvent(.storeReplaced, by: .proxy))
        } else if behind == .unknown {
            progress.withLock { $0.forget() }
            // The store's own key is the same, whatever it is wrapped by now.
            try kept.replace(kept.dataKey)
        } else {
            try kept.refresh(to: revision)
        }
        try adopt(revision)
        progress.withLock { $0.behind = .none }
        return true
    }

    /// Whether the store's own key is another one, as after a migration; that it is wrapped by another does not matter.
    private func hasOtherKey() throws(CredentialStoreError) -> Bool {
        let present = try CredentialStoreError.asking { () throws(DatabaseError) in
            try database.read { connection throws(DatabaseError) in try CredentialTables.key(connection) }
        }
        guard let dataKey = try? present?.dataKey(unwrappedWith: key) else { return false }
        return dataKey.id != kept.dataKey.id
    }

    private func revision() throws(CredentialStoreError) -> StoreRevision {
        try CredentialStoreError.asking { () throws(DatabaseError) in
            try database.read { connection throws(DatabaseError) in try CredentialTables.revision(connection) }
        }
    }

    /// Takes over what was judged, learned and fetched since the last time.
    private func adopt(_ revision: StoreRevision) throws(CredentialStoreError) {
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
        let dataKey = kept.dataKey
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

    /// Wraps the store's own key by another. The rows stay as they are, and whoever has the store open goes on. Blocks.
    public static func rewrap(
        sqlite path: String, from former: SealingKey, to new: SealingKey, audit: AuditTrail = AuditTrail()
    ) throws(CredentialStoreError) {
        let database = try CredentialStoreError.asking { () throws(DatabaseError) in
            try SQLiteCredentialDatabase(path: path)
        }
        try StoreKey.rewrap(database, from: former, to: new, audit: audit)
    }

    /// The same in a PostgreSQL database.
    ///
    /// - Parameter info: libpq's connection string or URI.
    public static func rewrap(
        postgresql info: String, from former: SealingKey, to new: SealingKey, audit: AuditTrail = AuditTrail()
    ) throws(CredentialStoreError) {
        let database = try CredentialStoreError.asking { () throws(DatabaseError) in
            try PostgreSQLCredentialDatabase(info, name: "rekey")
        }
        try StoreKey.rewrap(database, from: former, to: new, audit: audit)
    }
}

/// For those who may block: whoever is not on a loop.
extension CredentialStore {
    /// A credential without its secret.
    public struct Entry: Sendable {
        public let space: ProtectionSpace
        public let user: String
        public let isDefault: Bool
    }

    /// In no particular order.
    public var entries: [Entry] { kept.entries }

    public func credential(of user: String, for space: ProtectionSpace) -> Credential? {
        kept.credential(of: user, for: space)
    }

    /// Whether there is one of the user, even one that cannot be read or opened.
    public func holds(_ user: String, for space: ProtectionSpace) -> Bool { kept.holds(user, for: space) }

    /// The user whose credential answers a space's challenges.
    public func defaultUser(for space: ProtectionSpace) -> String? { kept.defaultUser(for: space) }

    /// Does all of it or nothing, in that order; it is on the disk when the call returns.
    public func apply(_ edits: [CredentialEdit]) throws(CredentialStorageError) { try kept.apply(edits) }

    /// Adds the credential, or replaces the one of the same user; it is on the disk when the call returns.
    public func put(
        _ credential: Credential, for space: ProtectionSpace, asDefault: Bool
    ) throws(CredentialStorageError) {
        try apply([.set(credential, for: space, asDefault: asDefault)])
    }

    /// Adds or replaces all of them, or none; they are on the disk when the call returns.
    public func put(
        _ batch: [KeptCredential], observedBy observer: some WorkObserver
    ) throws(CredentialStorageError) {
        let edits = batch.map { CredentialEdit.set($0.credential, for: $0.space, asDefault: $0.isDefault) }
        try kept.apply(edits, observedBy: observer)
    }

    /// All that is kept, in no particular order.
    public var credentials: [KeptCredential] {
        entries.compactMap { entry in
            credential(of: entry.user, for: entry.space).map {
                KeptCredential($0, for: entry.space, isDefault: entry.isDefault)
            }
        }
    }

    /// Forgets what is held against versions, in all processes that have the store open; it is on the disk when the call
    /// returns.
    ///
    /// - Returns: those that something was held against.
    public func reset(
        where fits: @escaping @Sendable (CredentialVersion, Account) -> Bool
    ) throws(CredentialStoreError) -> [CredentialVersion] {
        let (dataKey, audit) = (kept.dataKey, memory.audit)
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
                    let row = StoredAccount(
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

    /// Removes the user's credential; that there is none is no error.
    public func remove(user: String, for space: ProtectionSpace) throws(CredentialStorageError) {
        try apply([.remove(user: user, for: space)])
    }
}

/// One thing to be done to a store.
public enum CredentialEdit: Sendable {
    /// Adds the credential, or replaces the one of the same user. With `asDefault` it becomes the space's default; without,
    /// it is if it was.
    case set(Credential, for: ProtectionSpace, asDefault: Bool)
    /// Removes the user's credential; that there is none is no error.
    case remove(user: String, for: ProtectionSpace)
    /// Makes the user's credential the default of its space; that there is none is no error.
    case makeDefault(user: String, for: ProtectionSpace)
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
