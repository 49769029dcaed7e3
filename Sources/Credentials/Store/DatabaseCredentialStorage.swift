import Authentication
import Bytes
import Crypto
import Database
import IO
import Model
import Synchronization

/// A credential storage in a database, seen through a view in memory that answers at once: the database is asked only
/// when something is written, and when somebody else has changed something.
final class DatabaseCredentialStorage: CredentialStorage {
    private struct State {
        var view: CredentialView
        /// The changes of others that the view holds.
        var revision = CredentialTables.beginning
        /// Rows that are there and cannot be read, where it is known whose they are.
        var unreadable: Set<CredentialPlace> = []
    }

    private let database: any CredentialDatabase
    let listeners = ChangeListeners()
    private let state: Mutex<State>
    private let generation = Atomic(1)
    /// Held over a write to the database and the one to the view, so that both see the same order.
    private let writing = Mutex(())
    private let pool: BlockingPool
    private let report: @Sendable (String) -> Void
    let audit: AuditTrail
    private let reported = Mutex(Reported())

    /// Reads the database once. Blocks.
    ///
    /// - Parameter audit: a command's changes are written down with it.
    init(
        _ database: any CredentialDatabase, dataKey: SealingKey, pool: BlockingPool, audit: AuditTrail = AuditTrail(),
        report: @escaping @Sendable (String) -> Void
    ) throws(CredentialStoreError) {
        self.audit = audit
        self.database = database
        self.pool = pool
        self.report = report
        state = Mutex(State(view: CredentialView(dataKey: dataKey)))
        try reload(dataKey)
    }

    // MARK: - Reading

    func credentials(for space: ProtectionSpace) -> [ExactText: Credential] {
        let users = state.withLock { $0.view.users(for: space) }
        var credentials: [ExactText: Credential] = [:]
        for user in users { credentials[ExactText(user)] = credential(of: user, for: space) }
        return credentials
    }

    func allCredentials() async throws(CredentialStorageError) -> [ProtectionSpace: [ExactText: Credential]] {
        credentials(of: Set(CredentialKind.allCases))
    }

    func credentials(of kinds: Set<CredentialKind>) -> [ProtectionSpace: [ExactText: Credential]] {
        var credentials: [ProtectionSpace: [ExactText: Credential]] = [:]
        for entry in entries where kinds.contains(entry.space.authenticationMethod.storedKind) {
            credentials[entry.space, default: [:]][ExactText(entry.user)] = credential(of: entry.user, for: entry.space)
        }
        return credentials
    }

    var ticketHolders: [ProtectionSpace: [ExactText: Credential]] { state.withLock { $0.view.ticketHolders } }

    func defaultCredential(for space: ProtectionSpace) -> Credential? {
        opened(state.withLock { $0.view.defaultCredential(for: space) })
    }

    func version(of user: String, for space: ProtectionSpace) -> CredentialVersion? {
        state.withLock { $0.view.version(of: user, for: space) }
    }

    func serves(_ origin: Origin) -> Bool { state.withLock { $0.view.serves(origin) } }

    var originGeneration: Int { generation.load(ordering: .relaxed) }

    func changes() -> AsyncStream<CredentialChange> { listeners.stream() }

    /// In no particular order.
    var entries: [CredentialStore.Entry] {
        var entries: [CredentialStore.Entry] = []
        state.withLock { state in
            entries.reserveCapacity(state.view.count)
            state.view.visit { space, user, isDefault in
                entries.append(CredentialStore.Entry(space: space, user: user, isDefault: isDefault))
            }
        }
        return entries
    }

    func credential(of user: String, for space: ProtectionSpace) -> Credential? {
        opened(state.withLock { $0.view.credential(of: user, for: space) })
    }

    func defaultUser(for space: ProtectionSpace) -> String? { state.withLock { $0.view.defaultUser(for: space) } }

    private func opened(_ opening: CredentialView.Opening) -> Credential? {
        switch opening {
        case .none: return nil
        case .credential(let credential): return credential
        case .foreign(let user, let host):
            let sentence = "\(CredentialStoreError.foreignRow(user: user, host: host))"
            if reported.withLock({ $0.adds(sentence) }) { report(sentence) }
            return nil
        }
    }

    /// The rows that were reported to the operator: each once, as long as the process lives.
    private struct Reported {
        private var sentences: Set<String> = []
        private static let capacity = 10_000

        mutating func adds(_ sentence: String) -> Bool {
            sentences.count < Self.capacity && sentences.insert(sentence).inserted
        }
    }

    private func report(_ rows: [UnreadableCredential]) {
        let news = reported.withLock { reported in rows.filter { reported.adds(UnreadableCredential.report([$0])) } }
        if !news.isEmpty { report(UnreadableCredential.report(news)) }
    }

    /// Whether the store has a credential of the user, even one that cannot be read or opened.
    func holds(_ user: String, for space: ProtectionSpace) -> Bool {
        state.withLock { state in
            state.view.version(of: user, for: space) != nil
                || state.unreadable.contains(CredentialPlace(space: space, user: user))
        }
    }

    /// How far the view has come.
    var revision: Int64 { state.withLock { $0.revision } }

    var dataKey: SealingKey { state.withLock { $0.view.dataKey } }

    // MARK: - Writing

    func set(_ credential: Credential, for space: ProtectionSpace) async throws(CredentialStorageError) {
        try await unblocked([.set(credential, for: space, asDefault: false)])
    }

    func setDefault(_ credential: Credential, for space: ProtectionSpace) async throws(CredentialStorageError) {
        try await unblocked([.set(credential, for: space, asDefault: true)])
    }

    func remove(user: String, for space: ProtectionSpace) async throws(CredentialStorageError) {
        try await unblocked([.remove(user: user, for: space)])
    }

    private func unblocked(_ edits: [CredentialEdit]) async throws(CredentialStorageError) {
        let result = await pool.run { () -> Result<Void, CredentialStorageError> in
            do throws(CredentialStorageError) { return .success(try self.apply(edits)) } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    /// An edit as it is written.
    private struct Step: Sendable {
        enum Work: Sendable {
            case put(StoredCredential)
            case remove(user: String, ProtectionSpace)
            case makeDefault(user: String, ProtectionSpace)
        }

        let work: Work
        /// To be written down with it; nil for a proxy's, which tells others itself.
        var event: AuditEvent?

        /// The row whose content is another one afterwards, or gone.
        var rewritten: CredentialPlace? {
            switch work {
            case .put(let row): CredentialPlace(space: row.space, user: row.user)
            case .remove(let user, let space): CredentialPlace(space: space, user: user)
            case .makeDefault: nil
            }
        }
    }

    /// Does all of it or nothing; it is on the disk when the call returns. Blocks.
    func apply(
        _ edits: [CredentialEdit], observedBy observer: some WorkObserver = Unobserved()
    ) throws(CredentialStorageError) {
        try writing.withLock { _ throws(CredentialStorageError) in
            let dataKey = state.withLock { $0.view.dataKey }
            var steps: [Step] = []
            for edit in edits {
                let event = audit.actor.flatMap { AuditEvent(edit, by: $0) }
                steps.append(Step(work: try Self.work(edit, sealedWith: dataKey), event: event))
            }
            let (written, audit) = (steps, audit)
            let revision: Int64
            do throws(DatabaseError) {
                revision = try database.write { connection, revision throws(DatabaseError) in
                    for (done, step) in written.enumerated() {
                        guard observer.continues(after: done, of: written.count) else { throw .stopped }
                        let isChange = try Self.write(step.work, dataKey, at: revision, connection)
                        // Of a large change the last events alone are kept.
                        if isChange, let event = step.event, written.count - done <= EventTable.capacity {
                            try EventTable.add(event, of: audit, at: revision, connection)
                        }
                    }
                    try EventTable.trim(connection)
                    guard observer.continues(after: written.count, of: written.count) else { throw .stopped }
                    return revision
                }
            } catch { throw error == .stopped ? .stopped : .unavailable("\(error)") }
            state.withLock { state in
                for step in written {
                    if let change = Self.show(step.work, in: &state.view) { listeners.tell(change) }
                }
                generation.add(1, ordering: .relaxed)
                for step in written { if let place = step.rewritten { state.unreadable.remove(place) } }
                // Earlier changes of others are still to be read.
                if state.revision == revision &- 1 { state.revision = revision }
            }
        }
    }

    private static func work(
        _ edit: CredentialEdit, sealedWith key: SealingKey
    ) throws(CredentialStorageError) -> Step.Work {
        switch edit {
        case .remove(let user, let space): return .remove(user: user, space)
        case .makeDefault(let user, let space): return .makeDefault(user: user, space)
        case .set(let credential, let space, let asDefault):
            let row: StoredCredential?
            do throws(CryptoError) {
                row = try StoredCredential(credential, for: space, isDefault: asDefault, sealedWith: key)
            } catch { throw .unavailable("\(error)") }
            guard let row else { throw .unkept(credential: credential.version.name) }
            return .put(row)
        }
    }

    /// - Returns: whether anything changed.
    private static func write(
        _ work: Step.Work, _ key: SealingKey, at revision: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) -> Bool {
        switch work {
        case .put(let row):
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

    private static func show(_ work: Step.Work, in view: inout CredentialView) -> CredentialChange? {
        switch work {
        case .put(let row): view.put(row.sealed, of: row.user, for: row.space, isDefault: row.isDefault ? true : nil)
        case .remove(let user, let space):
            view.remove(user: user, for: space) ? CredentialChange(.removed, space: space, user: user) : nil
        case .makeDefault(let user, let space): view.makeDefault(user: user, for: space)
        }
    }

    // MARK: - Others' changes

    /// Takes over what other processes have changed. Blocks.
    ///
    /// - Parameter revision: how far the store has come.
    func refresh(to revision: StoreRevision) throws(CredentialStoreError) {
        try writing.withLock { _ throws(CredentialStoreError) in
            let known = state.withLock { $0.revision }
            guard known >= revision.forgotten else {
                return try reload(state.withLock { $0.view.dataKey })
            }
            let (removed, changed, unreadable) = try CredentialStoreError.asking { () throws(DatabaseError) in
                try database.read { connection throws(DatabaseError) in
                    // A row that is there again is read after its removal, and counts.
                    let removed = try CredentialTables.removals(since: known, connection)
                    var changed: [StoredCredential] = []
                    let unreadable = try CredentialTables.forEachCredential(since: known, connection) {
                        changed.append($0)
                    }
                    return (removed, changed, unreadable)
                }
            }
            // Facts about a row that cannot be read any more hold no longer.
            let lost = unreadable.compactMap(\.place)
            take(removed + lost, changed.filter(\.isSpelledCanonically))
            state.withLock { state in
                state.unreadable.subtract(removed)
                for row in changed { state.unreadable.remove(CredentialPlace(space: row.space, user: row.user)) }
                state.unreadable.formUnion(lost)
                state.revision = max(state.revision, revision.latest)
            }
            report(unreadable)
            respell(changed.filter { !$0.isSpelledCanonically })
        }
    }

    /// Changes that are taken over at a time: requests look at the view meanwhile.
    private static let portion = 256

    private func take(_ removed: [CredentialPlace], _ changed: [StoredCredential]) {
        // Whatever a request sees between two portions, no space is without the default that it has before and after, and
        // what was removed and set again is not missing.
        let present = removed.isEmpty ? [] : Set(changed.map { CredentialPlace(space: $0.space, user: $0.user) })
        let ordered = changed.filter(\.isDefault) + changed.filter { !$0.isDefault }
        for start in stride(from: 0, to: ordered.count, by: Self.portion) {
            state.withLock { state in
                for row in ordered[start..<min(start + Self.portion, ordered.count)] {
                    let change = state.view.put(row.sealed, of: row.user, for: row.space, isDefault: row.isDefault)
                    if let change { listeners.tell(change) }
                }
                generation.add(1, ordering: .relaxed)
            }
        }
        let gone = removed.filter { !present.contains($0) }
        for start in stride(from: 0, to: gone.count, by: Self.portion) {
            state.withLock { state in
                for place in gone[start..<min(start + Self.portion, gone.count)]
                where state.view.remove(user: place.user, for: place.space) {
                    listeners.tell(CredentialChange(.removed, space: place.space, user: place.user))
                }
                generation.add(1, ordering: .relaxed)
            }
        }
    }

    /// Takes over another store's credentials in place of those known. Blocks.
    func replace(_ dataKey: SealingKey) throws(CredentialStoreError) {
        try writing.withLock { _ throws(CredentialStoreError) in try reload(dataKey) }
    }

    private func reload(_ dataKey: SealingKey) throws(CredentialStoreError) {
        let (fresh, revision, unreadable, others) = try CredentialStoreError.asking { () throws(DatabaseError) in
            try database.read { connection throws(DatabaseError) in
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
        }
        // No request waits while many rows are compared or let go of.
        let former = state.withLock { state in
            defer {
                state = State(view: fresh, revision: revision, unreadable: Set(unreadable.compactMap(\.place)))
            }
            generation.add(1, ordering: .relaxed)
            return state
        }
        if former.revision != CredentialTables.beginning {
            for change in fresh.changes(since: former.view) { listeners.tell(change) }
        }
        report(unreadable)
        respell(others)
    }

    /// Rewrites rows of earlier versions whose host is not spelled canonically. Where that cannot be written they are used
    /// all the same, and rewritten another time.
    private func respell(_ rows: [StoredCredential]) {
        let dataKey = dataKey
        let pairs = rows.compactMap { old in (try? old.respelled(sealedWith: dataKey)).map { (old: old, new: $0) } }
        if pairs.isEmpty { return }
        var used = pairs.map(\.new)
        var written: Int64?
        do throws(DatabaseError) {
            (used, written) = try database.write { connection, revision throws(DatabaseError) in
                var rows: [StoredCredential] = []
                for pair in pairs {
                    let row = try CredentialTables.respell(pair.old, as: pair.new, at: revision, connection)
                    if let row { rows.append(row) }
                }
                return (rows, revision)
            }
        } catch {
            report("the hosts of credentials in the store could not be spelled canonically: \(error)")
            used = state.withLock { state in
                used.filter { state.view.version(of: $0.user, for: $0.space) == nil }.map { row in
                    var row = row
                    row.isDefault = row.isDefault && state.view.defaultUser(for: row.space) == nil
                    return row
                }
            }
        }
        take([], used)
        state.withLock { state in if let written, state.revision == written &- 1 { state.revision = written } }
    }
}
