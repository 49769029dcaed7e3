import Synchronization

/// The leaves of one authority by name: each is minted once, however many ask for it at the same time, and anew before
/// it expires.
///
/// The cache starts no threads. It hands each minting to whoever asked, as a closure to be run off the loop.
public final class LeafCache: Sendable {
    public typealias Outcome = Result<Identity, AuthorityError>
    /// Runs a minting, soon and somewhere else.
    public typealias Runner = (_ minting: @escaping @Sendable () -> Void) -> Void

    public let authority: CertificateAuthority
    private let state: Mutex<LeafTable>

    /// - Parameter capacity: how many leaves are kept; beyond it the one that was used the longest time ago goes.
    public init(authority: CertificateAuthority, capacity: Int = 1000) {
        self.authority = authority
        state = Mutex(LeafTable(capacity: capacity))
    }

    /// The leaf for a name, at once where it is kept and will be valid for a while.
    ///
    /// - Parameters:
    ///   - origin: the model of the leaf for `mint`; not looked at where there is one already.
    ///   - now: seconds since 1970.
    ///   - run: gets the minting where there is none under way.
    public func leaf(
        for name: ServerName, like origin: Certificate? = nil, at now: Int, running run: Runner
    ) async throws(AuthorityError) -> Identity {
        switch state.withLock({ $0.find(name, at: now) }) {
        case .found(let identity): return identity
        case .aging(let identity):
            run(minting(name, origin, now))
            return identity
        case .missing: break
        }
        let outcome = await withUnsafeContinuation { continuation in
            let next = state.withLock { $0.wait(for: name, at: now, continuation) }
            switch next {
            case .mint: run(minting(name, origin, now))
            case .wait: break
            case .resume(let identity): continuation.resume(returning: Outcome.success(identity))
            }
        }
        return try outcome.get()
    }

    /// Whether the leaf for a name is kept and valid.
    public func hasLeaf(for name: ServerName, at now: Int) -> Bool { state.withLock { $0.hasLeaf(for: name, at: now) } }

    public var count: Int { state.withLock { $0.count } }

    /// How many wait for that leaf.
    func waitingCount(for name: ServerName) -> Int { state.withLock { $0.waitingCount(for: name) } }

    private func minting(_ name: ServerName, _ origin: Certificate?, _ now: Int) -> @Sendable () -> Void {
        { [self] in
            let outcome: Outcome
            do throws(AuthorityError) {
                outcome = .success(try authority.mint(for: name, like: origin, at: now))
            } catch { outcome = .failure(error) }
            let waiting = state.withLock { $0.finish(name, outcome, at: now) }
            for continuation in waiting { continuation.resume(returning: outcome) }
        }
    }
}

/// The state of a leaf cache. Without clock or threads: time comes in as an argument, and the caller mints and resumes.
private struct LeafTable {
    typealias Waiter = UnsafeContinuation<LeafCache.Outcome, Never>

    private struct Leaf {
        let identity: Identity
        /// From then on a new one is wanted: with a quarter of its life left, which is 12 of 48 hours.
        let renewal: Int
        /// The number of its last use.
        var use: UInt64
    }

    private let capacity: Int
    private var uses: UInt64 = 0
    private var leaves: [ServerName: Leaf] = [:]
    /// The names that are being minted, and who waits for them.
    private var waiters: [ServerName: [Waiter]] = [:]

    init(capacity: Int) { self.capacity = max(1, capacity) }

    var count: Int { leaves.count }

    func waitingCount(for name: ServerName) -> Int { waiters[name]?.count ?? 0 }

    func hasLeaf(for name: ServerName, at now: Int) -> Bool {
        leaves[name].map { $0.identity.leaf.notAfter > now } ?? false
    }

    enum Finding {
        case found(Identity)
        /// Good for now, and the caller is to mint the next.
        case aging(Identity)
        case missing
    }

    mutating func find(_ name: ServerName, at now: Int) -> Finding {
        guard let leaf = leaves[name], leaf.identity.leaf.notAfter > now else { return .missing }
        uses += 1
        leaves[name]?.use = uses
        guard now >= leaf.renewal, waiters[name] == nil else { return .found(leaf.identity) }
        waiters[name] = []
        return .aging(leaf.identity)
    }

    enum Waiting {
        /// The caller mints.
        case mint
        /// Somebody else does.
        case wait
        /// Somebody did, just now.
        case resume(Identity)
    }

    mutating func wait(for name: ServerName, at now: Int, _ waiter: Waiter) -> Waiting {
        if let leaf = leaves[name], leaf.identity.leaf.notAfter > now { return .resume(leaf.identity) }
        if waiters[name] != nil {
            waiters[name]?.append(waiter)
            return .wait
        }
        waiters[name] = [waiter]
        return .mint
    }

    /// Keeps what was minted. A failure is told to those who wait and not kept; the leaf before it stays.
    ///
    /// - Returns: those who wait for it.
    mutating func finish(_ name: ServerName, _ outcome: LeafCache.Outcome, at now: Int) -> [Waiter] {
        if case .success(let identity) = outcome {
            if leaves[name] == nil, leaves.count >= capacity { evict() }
            uses += 1
            let end = identity.leaf.notAfter
            leaves[name] = Leaf(identity: identity, renewal: end - max(0, end - now) / 4, use: uses)
        }
        return waiters.removeValue(forKey: name) ?? []
    }

    /// Looking at all of them is cheap beside the minting that makes it necessary.
    private mutating func evict() {
        guard let oldest = leaves.min(by: { $0.value.use < $1.value.use }) else { return }
        leaves[oldest.key] = nil
    }
}
