import Model
import Synchronization

/// The versions of credentials that were definitely refused, by space: nobody sends them again, so that one wrong
/// password does not lock an account. A changed value is another version and is not parked.
///
/// A version that was accepted before has a retry time: a directory that is away for a minute refuses right passwords.
/// Then one request of all processes that share a store may send it again.
public final class ParkedCredentials: Sendable {
    public struct Entry: Sendable, Hashable {
        public let space: ProtectionSpace
        public let version: CredentialVersion

        public init(space: ProtectionSpace, version: CredentialVersion) {
            self.space = space
            self.version = version
        }
    }

    /// How long a version is parked.
    public struct Term: Sendable, Hashable {
        /// Milliseconds since 1970.
        public let since: Int
        /// When one request may send it again, in milliseconds since 1970; nil: nobody, until its value is set anew.
        public let nextTry: Int?
        /// How often it was refused since it was last accepted, less one.
        public let retries: Int

        public init(since: Int, nextTry: Int?, retries: Int) {
            self.since = since
            self.nextTry = nextTry
            self.retries = retries
        }
    }

    /// What a request may do with a version.
    public enum Standing: Sendable, Hashable {
        case free
        /// - Parameter nextTry: as in `Term`.
        case parked(nextTry: Int?)
        /// Its time has come: `claim` says whether this request is the one to send it.
        case due(Term)
    }

    private let capacity: Int
    private let journal: (any RefusalJournal)?
    private let state = Mutex(State())
    /// So that nothing is locked where nothing is parked.
    private let count = Atomic(0)
    private let changes = Atomic(0)
    private let identityObserver = Mutex<@Sendable () -> Void>({})

    private struct State {
        var terms: [Entry: Term] = [:]
        var order: [Entry] = []

        /// The certificates among them.
        var identities: [Entry] { order.filter { $0.space.authenticationMethod == .clientCertificate } }

        mutating func set(_ term: Term, for entry: Entry, capacity: Int) {
            guard terms.updateValue(term, forKey: entry) == nil else { return }
            if order.count >= capacity { terms[order.removeFirst()] = nil }
            order.append(entry)
        }
    }

    /// - Parameters:
    ///   - capacity: beyond it the oldest refusal is forgotten.
    ///   - journal: told of every change that is made here.
    public init(capacity: Int = 4096, journal: (any RefusalJournal)? = nil) {
        self.capacity = max(1, capacity)
        self.journal = journal
    }

    /// How many there are.
    public var parkedCount: Int { count.load(ordering: .relaxed) }

    /// Another number whenever `contains` may answer otherwise.
    public var generation: Int { changes.load(ordering: .acquiring) }

    /// A version was refused.
    ///
    /// - Parameters:
    ///   - retry: milliseconds until it may be tried again, from one refusal to the next, the last one over and over; empty:
    ///     never.
    ///   - now: milliseconds since 1970.
    /// - Returns: how long it is parked.
    @discardableResult
    public func park(
        _ version: CredentialVersion, for space: ProtectionSpace, retry: [Int] = [], at now: Int = 0
    ) -> Term {
        let entry = Entry(space: space, version: version)
        let term = change { state in
            let former = state.terms[entry]
            let retries = former.map { $0.retries &+ 1 } ?? 0
            let term = Term(
                since: former?.since ?? now, nextTry: Self.nextTry(after: retries, retry, at: now), retries: retries)
            state.set(term, for: entry, capacity: capacity)
            return term
        }
        journal?.parked(entry, for: term)
        return term
    }

    private static func nextTry(after retries: Int, _ retry: [Int], at now: Int) -> Int? {
        guard let last = retry.last else { return nil }
        return now &+ (retry.indices.contains(retries) ? retry[retries] : last)
    }

    /// Takes over what the journal holds, where others write too.
    public func adopt(_ entries: [(Entry, Term)]) {
        change { state in
            state.terms = [:]
            state.order = []
            for (entry, term) in entries { state.set(term, for: entry, capacity: capacity) }
        }
    }

    /// From now on tells `observer` when other certificates are parked than before: the answer of a connection outlives the
    /// request that it was given for.
    public func onIdentityChange(_ observer: @escaping @Sendable () -> Void) {
        identityObserver.withLock { $0 = observer }
    }

    private func change<Result>(_ change: (inout State) -> Result) -> Result {
        let (result, hasOtherIdentities) = state.withLock { state in
            let identities = state.identities
            let result = change(&state)
            count.store(state.order.count, ordering: .releasing)
            return (result, identities != state.identities)
        }
        changes.add(1, ordering: .releasing)
        if hasOtherIdentities { identityObserver.withLock { $0 }() }
        return result
    }

    /// Whether it is parked, were it only until its next try.
    public func contains(_ version: CredentialVersion, for space: ProtectionSpace) -> Bool {
        guard count.load(ordering: .acquiring) > 0 else { return false }
        return state.withLock { $0.terms[Entry(space: space, version: version)] != nil }
    }

    /// Whether it was refused at one of these, wherever there.
    public func contains(_ version: CredentialVersion, at origins: [Origin]) -> Bool {
        guard !origins.isEmpty else { return false }
        return state.withLock { state in
            state.order.contains { $0.version == version && origins.contains($0.space.origin) }
        }
    }

    /// - Parameter now: milliseconds since 1970.
    public func standing(of version: CredentialVersion, in space: ProtectionSpace, at now: Int) -> Standing {
        guard count.load(ordering: .acquiring) > 0,
            let term = state.withLock({ $0.terms[Entry(space: space, version: version)] })
        else { return .free }
        guard let nextTry = term.nextTry, nextTry <= now else { return .parked(nextTry: term.nextTry) }
        return .due(term)
    }

    /// Whether this request is the one that sends the version again, of all that find it due. A try that comes to no verdict
    /// is made again after the same time.
    ///
    /// - Parameters:
    ///   - seen: the term that was found due.
    ///   - retry: as above.
    public func claim(_ entry: Entry, seen: Term, retry: [Int], at now: Int) async -> Bool {
        let next = Term(
            since: seen.since, nextTry: Self.nextTry(after: seen.retries, retry, at: now), retries: seen.retries)
        let isFirst = state.withLock { state in
            guard state.terms[entry] == seen else { return false }
            state.terms[entry] = next
            return true
        }
        guard isFirst, let journal else { return isFirst }
        return await journal.claim(entry, seen: seen, until: next)
    }

    /// The version was accepted after all.
    ///
    /// - Returns: whether it was parked.
    @discardableResult
    public func lift(_ version: CredentialVersion, for space: ProtectionSpace) -> Bool {
        let entry = Entry(space: space, version: version)
        guard contains(version, for: space) else { return false }
        remove { $0 == entry }
        journal?.unparked([entry])
        return true
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

    /// Those of a space, with their terms.
    public func terms(in space: ProtectionSpace) -> [(Entry, Term)] {
        guard count.load(ordering: .acquiring) > 0 else { return [] }
        return terms.filter { $0.0.space == space }
    }

    /// In the order they were parked, with their terms.
    public var terms: [(Entry, Term)] {
        state.withLock { state in state.order.compactMap { entry in state.terms[entry].map { (entry, $0) } } }
    }

    private func remove(where condition: (Entry) -> Bool) {
        change { state in
            state.order.removeAll(where: condition)
            for entry in state.terms.keys.filter(condition) { state.terms[entry] = nil }
        }
    }
}

/// Keeps refusals for other processes and for later ones. Its calls return at once, but for `claim`; what they say may be
/// written a little later.
public protocol RefusalJournal: Sendable {
    func parked(_ entry: ParkedCredentials.Entry, for term: ParkedCredentials.Term)
    /// Every refusal of that name's other versions is void.
    func replaced(by version: CredentialVersion)
    func unparked(_ entries: [ParkedCredentials.Entry])
    /// Whether no other process has claimed the next try before.
    func claim(
        _ entry: ParkedCredentials.Entry, seen: ParkedCredentials.Term, until next: ParkedCredentials.Term
    ) async -> Bool
}
