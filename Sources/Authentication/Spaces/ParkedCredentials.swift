import Synchronization

/// The versions of credentials that were definitely refused, by space: nobody sends them again, so that one wrong
/// password does not lock an account. A changed value is another version and is not parked.
public final class ParkedCredentials: Sendable {
    public struct Entry: Sendable, Hashable {
        public let space: ProtectionSpace
        public let version: CredentialVersion

        public init(space: ProtectionSpace, version: CredentialVersion) {
            self.space = space
            self.version = version
        }
    }

    private let capacity: Int
    private let journal: (any RefusalJournal)?
    private let state = Mutex(State())
    /// So that nothing is locked where nothing is parked.
    private let count = Atomic(0)
    private let changes = Atomic(0)

    private struct State {
        var entries: Set<Entry> = []
        var order: [Entry] = []

        /// Whether it was not there.
        mutating func add(_ entry: Entry, capacity: Int) -> Bool {
            guard entries.insert(entry).inserted else { return false }
            if order.count >= capacity { entries.remove(order.removeFirst()) }
            order.append(entry)
            return true
        }
    }

    /// - Parameters:
    ///   - capacity: beyond it the oldest refusal is forgotten.
    ///   - journal: told of every change that is made here.
    public init(capacity: Int = 4096, journal: (any RefusalJournal)? = nil) {
        self.capacity = max(1, capacity)
        self.journal = journal
    }

    /// Another number whenever `contains` may answer otherwise.
    public var generation: Int { changes.load(ordering: .acquiring) }

    public func park(_ version: CredentialVersion, for space: ProtectionSpace) {
        let entry = Entry(space: space, version: version)
        let isNew = state.withLock { state in
            defer { count.store(state.order.count, ordering: .releasing) }
            return state.add(entry, capacity: capacity)
        }
        changes.add(1, ordering: .releasing)
        if isNew { journal?.parked(entry) }
    }

    /// Takes over what the journal holds, where others write too.
    public func adopt(_ entries: [Entry]) {
        state.withLock { state in
            state.entries = []
            state.order = []
            for entry in entries { _ = state.add(entry, capacity: capacity) }
            count.store(state.order.count, ordering: .releasing)
        }
        changes.add(1, ordering: .releasing)
    }

    public func contains(_ version: CredentialVersion, for space: ProtectionSpace) -> Bool {
        guard count.load(ordering: .acquiring) > 0 else { return false }
        return state.withLock { $0.entries.contains(Entry(space: space, version: version)) }
    }

    /// Whether it was refused at one of these, wherever there.
    public func contains(_ version: CredentialVersion, at origins: [Origin]) -> Bool {
        guard !origins.isEmpty else { return false }
        return state.withLock { state in
            state.entries.contains { $0.version == version && origins.contains($0.space.origin) }
        }
    }

    /// Forgets the other versions of a credential, which nobody has any more.
    public func keepOnly(_ version: CredentialVersion) {
        remove { $0.version.name == version.name && $0.version != version }
        journal?.replaced(by: version)
    }

    /// Gives versions another chance: for an operator who has unlocked an account.
    ///
    /// - Returns: those that were parked.
    @discardableResult
    public func retry(where fits: (Entry) -> Bool) -> [Entry] {
        let lifted = Set(entries.filter(fits))
        remove { lifted.contains($0) }
        if !lifted.isEmpty { journal?.unparked(Array(lifted)) }
        return Array(lifted)
    }

    /// In the order they were parked.
    public var entries: [Entry] { state.withLock { $0.order } }

    private func remove(where condition: (Entry) -> Bool) {
        state.withLock { state in
            state.order.removeAll(where: condition)
            state.entries = Set(state.order)
            count.store(state.order.count, ordering: .releasing)
        }
        changes.add(1, ordering: .releasing)
    }
}

/// Keeps refusals for other processes and for later ones. Its calls return at once; what they say may be written a
/// little later.
public protocol RefusalJournal: Sendable {
    func parked(_ entry: ParkedCredentials.Entry)
    /// Every refusal of that name's other versions is void.
    func replaced(by version: CredentialVersion)
    func unparked(_ entries: [ParkedCredentials.Entry])
}
