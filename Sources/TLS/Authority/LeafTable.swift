/// What a leaf cache knows. Without clock or threads: time comes in as an argument, and the caller mints and resumes.
struct LeafTable {
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
    private var flights: [ServerName: [Waiter]] = [:]

    init(capacity: Int) { self.capacity = max(1, capacity) }

    var count: Int { leaves.count }

    func waitingCount(for name: ServerName) -> Int { flights[name]?.count ?? 0 }

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
        guard now >= leaf.renewal, flights[name] == nil else { return .found(leaf.identity) }
        flights[name] = []
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
        if flights[name] != nil {
            flights[name]?.append(waiter)
            return .wait
        }
        flights[name] = [waiter]
        return .mint
    }

    /// Keeps what was minted. A failure is told to those who wait and not kept; the leaf before it stays.
    ///
    /// - Returns: who waits for it.
    mutating func finish(_ name: ServerName, _ outcome: LeafCache.Outcome, at now: Int) -> [Waiter] {
        if case .success(let identity) = outcome {
            if leaves[name] == nil, leaves.count >= capacity { evict() }
            uses += 1
            let end = identity.leaf.notAfter
            leaves[name] = Leaf(identity: identity, renewal: end - max(0, end - now) / 4, use: uses)
        }
        return flights.removeValue(forKey: name) ?? []
    }

    /// Looking at all of them is cheap beside the minting that makes it necessary.
    private mutating func evict() {
        guard let oldest = leaves.min(by: { $0.value.use < $1.value.use }) else { return }
        leaves[oldest.key] = nil
    }
}
