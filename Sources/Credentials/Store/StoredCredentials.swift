import Authentication
import Bytes
import Crypto
import Database
import IO
import Model
import Synchronization

/// Credentials by protection space and user, one of them the space's default: in memory until a database is attached, from
/// then on those of the database. A token or a certificate has a name in the user's place; an
/// exception for a server's key is named by its pin.
///
/// Answers from any thread; each call is atomic. Look-ups are answered at once, by a view in memory whose secrets are sealed:
/// the database is asked only when something is written, and when another process has changed something.
public final class StoredCredentials: Sendable {
    /// One thing to be done to stored credentials.
    public enum Edit: Sendable {
        /// Adds the credential, or replaces the one of the same user. With `asDefault` it becomes the space's default;
        /// without, the default stays as it is.
        case set(Credential, for: ProtectionSpace, asDefault: Bool)
        /// Removes the user's credential, if there is one.
        case remove(user: String, for: ProtectionSpace)
        /// Makes the user's credential, if there is one, the default of its space.
        case makeDefault(user: String, for: ProtectionSpace)
    }

    private struct State {
        /// The view; nil until the first credential is kept in memory, or a database is attached.
        var view: CredentialView?
        /// The latest change of other processes in the view.
        var revision = CredentialTables.beginning
        /// The existing rows that cannot be read, if their user is known.
        var unreadable: Set<StoredCredential.Place> = []
    }

    /// The database that keeps the credentials.
    private struct Backing: Sendable {
        let database: any CredentialDatabase
        let pool: BlockingPool
        let report: @Sendable (String) -> Void
    }

    /// The trail for a command's changes, which are written down with the credentials.
    let audit: AuditTrail
    private let backing = Mutex<Backing?>(nil)
    private let state = Mutex(State())
    private let generation = Atomic(1)
    /// Locked during a write to the database and to the view, so that both have the same order.
    private let writing = Mutex(())
    private let listeners = Mutex(Listeners())
    private let reported = Mutex(Reported())

    public init(audit: AuditTrail = AuditTrail()) { self.audit = audit }

    // MARK: - Reading

    /// The space's credentials by user name, at this moment.
    public func credentials(for space: ProtectionSpace) -> [ExactText: Credential] {
        let users = state.withLock { $0.view?.users(for: space) ?? [] }
        var credentials: [ExactText: Credential] = [:]
        for user in users { credentials[ExactText(user)] = credential(of: user, for: space) }
        return credentials
    }

    /// All stored credentials of these kinds, at this moment. Credentials of other kinds are not decrypted.
    public func credentials(of kinds: Set<CredentialKind>) -> [ProtectionSpace: [ExactText: Credential]] {
        var credentials: [ProtectionSpace: [ExactText: Credential]] = [:]
        for entry in entries where kinds.contains(entry.space.authenticationMethod.storedKind) {
            credentials[entry.space, default: [:]][ExactText(entry.user)] = credential(of: entry.user, for: entry.space)
        }
        return credentials
    }

    /// The credentials of Kerberos principals that have a ticket, at this moment. Nothing is decrypted for it.
    public var ticketHolders: [ProtectionSpace: [ExactText: Credential]] {
        state.withLock { $0.view?.ticketHolders ?? [:] }
    }

    public func defaultCredential(for space: ProtectionSpace) -> Credential? {
        opened(state.withLock { $0.view?.defaultCredential(for: space) })
    }

    /// The default of the space. Without one, that of a more general space: of any realm and method, or of any port.
    public func proposedCredential(for space: ProtectionSpace) -> Credential? {
        if let found = defaultCredential(for: space) { return found }
        for space in space.moreGeneral {
            if let found = defaultCredential(for: space) { return found }
        }
        return nil
    }

    public func credential(of user: String, for space: ProtectionSpace) -> Credential? {
        opened(state.withLock { $0.view?.credential(of: user, for: space) })
    }

    /// The version of the user's credential at this moment, or nil.
    public func version(of user: String, for space: ProtectionSpace) -> CredentialVersion? {
        state.withLock { $0.view?.version(of: user, for: space) }
    }

    /// The user whose credential answers a space's challenges.
    public func defaultUser(for space: ProtectionSpace) -> String? {
        state.withLock { $0.view?.defaultUser(for: space) }
    }

    /// Whether there is a credential for any space of the origin.
    public func serves(_ origin: Origin) -> Bool { state.withLock { $0.view?.serves(origin) ?? false } }

    /// Whether there is a credential for any space of the origin, or of its host at any port.
    public func mayAnswer(_ origin: Origin) -> Bool { serves(origin) || serves(origin.onAnyPort) }

    /// A number that changes when `serves` may change for some origin; never 0.
    public var originGeneration: Int { generation.load(ordering: .relaxed) }

    /// Whether there is a credential of the user, even one that cannot be read or decrypted.
    public func holds(_ user: String, for space: ProtectionSpace) -> Bool {
        state.withLock { state in
            state.view?.version(of: user, for: space) != nil
                || state.unreadable.contains(StoredCredential.Place(space: space, user: user))
        }
    }

    /// A credential without its secret.
    public struct Entry: Sendable {
        public let space: ProtectionSpace
        public let user: String
        public let isDefault: Bool
    }

    /// All credentials without their secrets, in no particular order.
    public var entries: [Entry] {
        var entries: [Entry] = []
        state.withLock { state in
            entries.reserveCapacity(state.view?.count ?? 0)
            state.view?.visit { space, user, isDefault in
                entries.append(Entry(space: space, user: user, isDefault: isDefault))
            }
        }
        return entries
    }

    /// All stored credentials, in no particular order.
    public var all: [CredentialStore.Entry] {
        entries.compactMap { entry in
            credential(of: entry.user, for: entry.space).map {
                CredentialStore.Entry($0, for: entry.space, isDefault: entry.isDefault)
            }
        }
    }

    private func opened(_ opening: CredentialView.Opening?) -> Credential? {
        switch opening {
        case nil: return nil
        case .credential(let credential)?: return credential
        case .foreign(let user, let host)?:
            let sentence = "\(CredentialStore.Failure.foreignRow(user: user, host: host))"
            if reported.withLock({ $0.adds(sentence) }) { report(sentence) }
            return nil
        }
    }

    /// The rows that were reported to the operator, each once during the life of the process.
    private struct Reported {
        private var sentences: Set<String> = []
        private static let capacity = 10_000

        mutating func adds(_ sentence: String) -> Bool {
            sentences.count < Self.capacity && sentences.insert(sentence).inserted
        }
    }

    private func report(_ sentence: String) { backing.withLock { $0 }?.report(sentence) }

    private func report(_ rows: [StoredCredential.Unreadable]) {
        let news = reported.withLock { reported in
            rows.filter { reported.adds(StoredCredential.Unreadable.report([$0])) }
        }
        if !news.isEmpty { report(StoredCredential.Unreadable.report(news)) }
    }

    /// The revision of the view.
    var revision: Int64 { state.withLock { $0.revision } }

    /// The key that seals the database's rows; nil until something is kept.
    var dataKey: SealingKey? { state.withLock { $0.view?.dataKey } }

    // MARK: - Listening

    private struct Listeners {
        private var all: [Int: AsyncStream<Change>.Continuation] = [:]
        private var next = 0

        mutating func add(_ listener: AsyncStream<Change>.Continuation) -> Int {
            defer { next += 1 }
            all[next] = listener
            return next
        }

        mutating func remove(_ number: Int) { all[number] = nil }

        func tell(_ change: Change) { for listener in all.values { listener.yield(change) } }
    }

    /// The changes from now on, in order. The stream ends when the consumer stops.
    public func changes() -> AsyncStream<Change> {
        let (stream, continuation) = AsyncStream.makeStream(of: Change.self)
        let number = listeners.withLock { $0.add(continuation) }
        continuation.onTermination = { [weak self] _ in self?.listeners.withLock { $0.remove(number) } }
        return stream
    }

    /// Queues the change for all listeners. Called under the lock that orders the changes.
    private func tell(_ change: Change) { listeners.withLock { $0.tell(change) } }

    // MARK: - Writing

    /// Adds the credential, or replaces the one of the same user.
    public func set(_ credential: Credential, for space: ProtectionSpace) async throws(Failure) {
        try await unblocked([.set(credential, for: space, asDefault: false)])
    }

    /// Adds the credential like `set` and makes it the space's default.
    public func setDefault(_ credential: Credential, for space: ProtectionSpace) async throws(Failure) {
        try await unblocked([.set(credential, for: space, asDefault: true)])
    }

    /// Removes the user's credential, if there is one.
    public func remove(user: String, for space: ProtectionSpace) async throws(Failure) {
        try await unblocked([.remove(user: user, for: space)])
    }

    private func unblocked(_ edits: [Edit]) async throws(Failure) {
        guard let pool = backing.withLock({ $0?.pool }) else { return try apply(edits) }
        try await pool.run { Result { () throws(Failure) in try self.apply(edits) } }.get()
    }

    /// Makes all changes in this order, or none. They are on the disk when the call returns. Blocks.
    public func apply(_ edits: [Edit]) throws(Failure) {
        try apply(edits, observedBy: Unobserved())
    }

    /// Adds or replaces all of them, or none; they are on the disk when the call returns. Blocks.
    public func put(
        _ batch: [CredentialStore.Entry], observedBy observer: some WorkObserver
    ) throws(Failure) {
        try apply(
            batch.map { .set($0.credential, for: $0.space, asDefault: $0.isDefault) }, observedBy: observer)
    }

    private func apply(
        _ edits: [Edit], observedBy observer: some WorkObserver
    ) throws(Failure) {
        try writing.withLock { _ throws(Failure) in
            let dataKey = try sealingKey()
            var steps: [Step] = []
            for edit in edits { steps.append(try Step(edit, sealedWith: dataKey)) }
            let revision = try write(steps, dataKey, observedBy: observer)
            state.withLock { state in
                for step in steps {
                    if let change = state.view?.show(step) { tell(change) }
                    if let place = step.rewritten { state.unreadable.remove(place) }
                }
                generation.add(1, ordering: .relaxed)
                // Earlier changes of other processes are still to be read.
                if let revision, state.revision == revision &- 1 { state.revision = revision }
            }
        }
    }

    /// The key of the view; in memory one that ends with the process.
    private func sealingKey() throws(Failure) -> SealingKey {
        if let dataKey { return dataKey }
        do throws(CryptoError) {
            let fresh = try SealingKey.random()
            state.withLock { $0.view = CredentialView(dataKey: fresh) }
            return fresh
        } catch { throw .unavailable("\(error)") }
    }

    /// - Returns: the number of the change; nil if there is no database.
    private func write(
        _ steps: [Step], _ dataKey: SealingKey, observedBy observer: some WorkObserver
    ) throws(Failure) -> Int64? {
        guard let database = backing.withLock({ $0?.database }) else { return nil }
        let audit = audit
        do throws(DatabaseError) {
            return try database.write { connection, revision throws(DatabaseError) in
                for (done, step) in steps.enumerated() {
                    guard observer.continues(after: done, of: steps.count) else { throw .stopped }
                    let isChange = try step.write(dataKey, at: revision, connection)
                    // Of a large change only the last events are kept. A proxy reports to others itself.
                    guard isChange, steps.count - done <= EventTable.capacity, let actor = audit.actor else { continue }
                    try EventTable.add(AuditEvent(step.edit, by: actor), of: audit, at: revision, connection)
                }
                try EventTable.trim(connection)
                guard observer.continues(after: steps.count, of: steps.count) else { throw .stopped }
                return revision
            }
        } catch { throw error == .stopped ? .stopped : .unavailable("\(error)") }
    }

    /// An edit in the form in which it is written.
    fileprivate struct Step: Sendable {
        let edit: Edit
        /// The row of a credential that is set.
        let row: StoredCredential?

        init(_ edit: Edit, sealedWith key: SealingKey) throws(Failure) {
            self.edit = edit
            guard case .set(let credential, let space, let asDefault) = edit else {
                row = nil
                return
            }
            do throws(CryptoError) {
                row = try StoredCredential(credential, for: space, isDefault: asDefault, sealedWith: key)
            } catch { throw .unavailable("\(error)") }
            if row == nil { throw .unkept(credential: credential.version.name) }
        }

        /// The row whose content changes, or that is removed.
        var rewritten: StoredCredential.Place? {
            switch edit {
            case .set: row.map { StoredCredential.Place(space: $0.space, user: $0.user) }
            case .remove(let user, let space): StoredCredential.Place(space: space, user: user)
            case .makeDefault: nil
            }
        }

        /// - Returns: whether anything changed.
        func write(
            _ key: SealingKey, at revision: Int64, _ connection: some SQLConnection
        ) throws(DatabaseError) -> Bool {
            switch edit {
            case .set:
                guard let row else { return false }
                try CredentialTables.put(row, at: revision, connection)
                try AccountTables.replace(
                    with: row.version, isRenewal: false, key, on: LearnedTables.today, at: revision, connection)
                return true
            case .remove(let user, let space):
                return try CredentialTables.remove(user: user, for: space, at: revision, connection)
            case .makeDefault(let user, let space):
                return try CredentialTables.makeDefault(user: user, for: space, at: revision, connection)
            }
        }
    }

    // MARK: - The database

    /// The contents of a database.
    struct Contents {
        fileprivate var view: CredentialView
        fileprivate var revision: Int64
        fileprivate let unreadable: [StoredCredential.Unreadable]

        /// Reads a database. Blocks.
        init(
            of database: any CredentialDatabase, _ dataKey: SealingKey, report: (String) -> Void
        ) throws(CredentialStore.Failure) {
            var others: [StoredCredential]
            (view, revision, unreadable, others) = try database.ask { connection throws(DatabaseError) in
                let revision = try CredentialTables.revision(connection).latest
                var view = CredentialView(dataKey: dataKey)
                var others: [StoredCredential] = []
                let unreadable = try CredentialTables.forEachCredential(
                    since: CredentialTables.beginning, connection
                ) { row in
                    guard row.isSpelledCanonically else { return others.append(row) }
                    _ = view.put(row.sealed, of: row.user, for: row.space, isDefault: row.isDefault)
                }
                return (view, revision, unreadable, others)
            }
            let respelled = StoredCredentials.respell(others, in: database, dataKey, report: report)
            for row in view.lacking(respelled) {
                _ = view.put(row.sealed, of: row.user, for: row.space, isDefault: row.isDefault)
            }
            if respelled.revision == revision &+ 1 { revision = revision &+ 1 }
        }
    }

    /// Keeps the credentials in a database from now on, in place of those in memory. One database at most.
    func attach(
        _ contents: Contents, of database: any CredentialDatabase, pool: BlockingPool,
        report: @escaping @Sendable (String) -> Void
    ) {
        writing.withLock { _ in
            backing.withLock { $0 = Backing(database: database, pool: pool, report: report) }
            _ = publish(contents)
            for entry in entries {
                tell(Change(entry.isDefault ? .madeDefault : .set, space: entry.space, user: entry.user))
            }
        }
    }

    /// Adopts another store's credentials in place of the current ones. Blocks.
    func replace(_ dataKey: SealingKey) throws(CredentialStore.Failure) {
        try writing.withLock { _ throws(CredentialStore.Failure) in try reload(dataKey) }
    }

    private func reload(_ dataKey: SealingKey) throws(CredentialStore.Failure) {
        guard let backing = backing.withLock({ $0 }) else { return }
        let contents = try Contents(of: backing.database, dataKey, report: backing.report)
        // No request waits while many rows are compared or released.
        guard let former = publish(contents).view else { return }
        for change in contents.view.changes(since: former) { tell(change) }
    }

    /// - Returns: the state before.
    private func publish(_ contents: Contents) -> State {
        let former = state.withLock { state in
            defer {
                state = State(
                    view: contents.view, revision: contents.revision,
                    unreadable: Set(contents.unreadable.compactMap(\.place)))
            }
            generation.add(1, ordering: .relaxed)
            return state
        }
        report(contents.unreadable)
        return former
    }

    /// Adopts the changes of other processes. Blocks.
    ///
    /// - Parameter revision: the current revision of the store.
    func refresh(to revision: CredentialTables.Revision) throws(CredentialStore.Failure) {
        try writing.withLock { _ throws(CredentialStore.Failure) in
            guard let backing = backing.withLock({ $0 }), let dataKey else { return }
            let known = self.revision
            guard known >= revision.forgotten else { return try reload(dataKey) }
            let (removed, changed, unreadable) = try backing.database.ask { connection throws(DatabaseError) in
                // A row that exists again is read after its removal, and counts.
                let removed = try CredentialTables.removals(since: known, connection)
                var changed: [StoredCredential] = []
                let unreadable = try CredentialTables.forEachCredential(since: known, connection) {
                    changed.append($0)
                }
                return (removed, changed, unreadable)
            }
            // Facts about a row that became unreadable are no longer valid.
            let lost = unreadable.compactMap(\.place)
            take(removed + lost, changed.filter(\.isSpelledCanonically))
            state.withLock { state in
                state.unreadable.subtract(removed)
                for row in changed { state.unreadable.remove(StoredCredential.Place(space: row.space, user: row.user)) }
                state.unreadable.formUnion(lost)
                state.revision = max(state.revision, revision.latest)
            }
            report(unreadable)
            let respelled = Self.respell(
                changed.filter { !$0.isSpelledCanonically }, in: backing.database, dataKey, report: backing.report)
            take([], state.withLock { $0.view?.lacking(respelled) ?? [] })
            state.withLock { state in
                if let written = respelled.revision, state.revision == written &- 1 { state.revision = written }
            }
        }
    }

    /// The number of changes that are adopted at a time: requests use the view meanwhile.
    private static let portion = 256

    private func take(_ removed: [StoredCredential.Place], _ changed: [StoredCredential]) {
        // Between two portions no space is without the default that it has before and after, and
        // what was removed and set again is not missing.
        let present = removed.isEmpty ? [] : Set(changed.map { StoredCredential.Place(space: $0.space, user: $0.user) })
        let ordered = changed.filter(\.isDefault) + changed.filter { !$0.isDefault }
        for start in stride(from: 0, to: ordered.count, by: Self.portion) {
            state.withLock { state in
                for row in ordered[start..<min(start + Self.portion, ordered.count)] {
                    let change = state.view?.put(row.sealed, of: row.user, for: row.space, isDefault: row.isDefault)
                    if let change { tell(change) }
                }
                generation.add(1, ordering: .relaxed)
            }
        }
        let gone = removed.filter { !present.contains($0) }
        for start in stride(from: 0, to: gone.count, by: Self.portion) {
            state.withLock { state in
                for place in gone[start..<min(start + Self.portion, gone.count)]
                where state.view?.remove(user: place.user, for: place.space) == true {
                    tell(Change(.removed, space: place.space, user: place.user))
                }
                generation.add(1, ordering: .relaxed)
            }
        }
    }

    /// The rows of earlier versions with the canonical spelling of their hosts, and the number of the change that wrote them;
    /// nil: they could not be written, and are used all the same.
    fileprivate typealias Respelled = (rows: [StoredCredential], revision: Int64?)

    /// Rewrites rows of earlier versions whose host is not spelled canonically. What cannot be written is rewritten another
    /// time.
    private static func respell(
        _ rows: [StoredCredential], in database: any CredentialDatabase, _ dataKey: SealingKey,
        report: (String) -> Void
    ) -> Respelled {
        let pairs = rows.compactMap { old in (try? old.respelled(sealedWith: dataKey)).map { (old: old, new: $0) } }
        if pairs.isEmpty { return ([], nil) }
        do throws(DatabaseError) {
            return try database.write { connection, revision throws(DatabaseError) in
                var rows: [StoredCredential] = []
                for pair in pairs {
                    let row = try CredentialTables.respell(pair.old, as: pair.new, at: revision, connection)
                    if let row { rows.append(row) }
                }
                return (rows, revision)
            }
        } catch {
            report("the hosts of credentials in the store could not be spelled canonically: \(error)")
            return (pairs.map(\.new), nil)
        }
    }

    /// A change of stored credentials that has happened.
    public struct Change: Sendable, Hashable {
        public enum Kind: Sendable, Hashable { case set, removed, madeDefault }

        public let kind: Kind
        public let space: ProtectionSpace
        private let exactUser: ExactText

        public var user: String { exactUser.text }

        public init(_ kind: Kind, space: ProtectionSpace, user: String) {
            self.kind = kind
            self.space = space
            exactUser = ExactText(user)
        }
    }

    /// An error of a storage.
    public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// The storage keeps no credentials of that kind for the space, or the credential has no name to store it
        /// under.
        case unkept(credential: String)
        /// The storage cannot be reached or refused the operation. The text is fit for logs.
        case unavailable(String)
        /// The change of many was stopped before its end; nothing of it is kept.
        case stopped

        public var description: String {
            switch self {
            case .unkept(let credential): "credential \(credential) cannot be stored for such a challenge"
            case .unavailable(let cause): "the credential store is unavailable: \(cause)"
            case .stopped: "the change was stopped, and nothing was stored"
            }
        }
    }
}

extension CredentialView {
    /// - Returns: the change for listeners; nil if nothing is new.
    fileprivate mutating func show(_ step: StoredCredentials.Step) -> StoredCredentials.Change? {
        switch step.edit {
        case .set:
            step.row.flatMap { put($0.sealed, of: $0.user, for: $0.space, isDefault: $0.isDefault ? true : nil) }
        case .remove(let user, let space):
            remove(user: user, for: space) ? StoredCredentials.Change(.removed, space: space, user: user) : nil
        case .makeDefault(let user, let space): makeDefault(user: user, for: space)
        }
    }

    /// The rows to be used: those that were written, else those without a written counterpart.
    fileprivate func lacking(_ respelled: StoredCredentials.Respelled) -> [StoredCredential] {
        if respelled.revision != nil { return respelled.rows }
        return respelled.rows.filter { version(of: $0.user, for: $0.space) == nil }.map { row in
            var row = row
            row.isDefault = row.isDefault && defaultUser(for: row.space) == nil
            return row
        }
    }
}
