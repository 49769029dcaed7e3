import Bytes
import Synchronization

/// The leaf certificates of one CA, by name. Each is issued once, even for many requests at the same time, and again
/// before it expires.
///
/// The cache starts no threads. It passes each issuing to the caller, as a closure to be run outside the loop.
public final class LeafCache: Sendable {
    public typealias Outcome = Result<Identity, CertificateAuthority.Failure>
    /// Runs the issuing of a certificate soon, on another thread.
    public typealias Runner = (_ minting: @escaping @Sendable () -> Void) -> Void

    public let authority: CertificateAuthority
    private let state: Mutex<LeafCache.Table>

    /// - Parameter capacity: the limit of leaves. Beyond it the least recently used one is removed.
    public init(authority: CertificateAuthority, capacity: Int = 1000) {
        self.authority = authority
        state = Mutex(LeafCache.Table(capacity: capacity))
    }

    /// The leaf for a name. Returns at once if it is cached and will be valid for a while.
    ///
    /// - Parameters:
    ///   - origin: the model of the leaf for `mint`; not used if the leaf is cached.
    ///   - run: gets the issuing, if it is not already in progress.
    public func leaf(
        for name: ServerName, like origin: Certificate? = nil, at now: WallTime, running run: Runner
    ) async throws(CertificateAuthority.Failure) -> Identity {
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
    public func hasLeaf(for name: ServerName, at now: WallTime) -> Bool {
        state.withLock { $0.hasLeaf(for: name, at: now) }
    }

    public var count: Int { state.withLock { $0.count } }

    /// The number of callers that wait for that leaf.
    func waitingCount(for name: ServerName) -> Int { state.withLock { $0.waitingCount(for: name) } }

    private func minting(_ name: ServerName, _ origin: Certificate?, _ now: WallTime) -> @Sendable () -> Void {
        { [self] in
            let outcome = Outcome { () throws(CertificateAuthority.Failure) in
                try authority.mint(for: name, like: origin, at: now)
            }
            let waiting = state.withLock { $0.finish(name, outcome, at: now) }
            for continuation in waiting { continuation.resume(returning: outcome) }
        }
    }

    /// The state of a leaf cache, without clock or threads. Times are arguments; the caller issues certificates and resumes
    /// waiters.
    fileprivate struct Table {
        typealias Waiter = UnsafeContinuation<LeafCache.Outcome, Never>

        private struct Leaf {
            let identity: Identity
            /// The time from which a new leaf is wanted: when a quarter of the lifetime is left, which is 12 of 48 hours.
            let renewal: WallTime
            /// The number of the last use.
            var use: UInt64
        }

        private let capacity: Int
        private var uses: UInt64 = 0
        private var leaves: [ServerName: Leaf] = [:]
        /// The callers that wait, by the name whose certificate is being issued.
        private var waiters: [ServerName: [Waiter]] = [:]

        init(capacity: Int) { self.capacity = max(1, capacity) }

        var count: Int { leaves.count }

        func waitingCount(for name: ServerName) -> Int { waiters[name]?.count ?? 0 }

        func hasLeaf(for name: ServerName, at now: WallTime) -> Bool {
            leaves[name].map { $0.identity.leaf.notAfter > now } ?? false
        }

        enum Finding {
            case found(Identity)
            /// The leaf is valid, and the caller issues the next one.
            case aging(Identity)
            case missing
        }

        mutating func find(_ name: ServerName, at now: WallTime) -> Finding {
            guard let leaf = leaves[name], leaf.identity.leaf.notAfter > now else { return .missing }
            uses += 1
            leaves[name]?.use = uses
            guard now >= leaf.renewal, waiters[name] == nil else { return .found(leaf.identity) }
            waiters[name] = []
            return .aging(leaf.identity)
        }

        enum Waiting {
            /// The caller issues the certificate.
            case mint
            /// The certificate is being issued by another caller.
            case wait
            /// The certificate was just issued by another caller.
            case resume(Identity)
        }

        mutating func wait(for name: ServerName, at now: WallTime, _ waiter: Waiter) -> Waiting {
            if let leaf = leaves[name], leaf.identity.leaf.notAfter > now { return .resume(leaf.identity) }
            if waiters[name] != nil {
                waiters[name]?.append(waiter)
                return .wait
            }
            waiters[name] = [waiter]
            return .mint
        }

        /// Stores an issued certificate. A failure is passed to the waiting callers and not stored; the previous leaf
        /// stays.
        ///
        /// - Returns: the callers that wait for it.
        mutating func finish(_ name: ServerName, _ outcome: LeafCache.Outcome, at now: WallTime) -> [Waiter] {
            if case .success(let identity) = outcome {
                if leaves[name] == nil, leaves.count >= capacity { evict() }
                uses += 1
                let end = identity.leaf.notAfter
                leaves[name] = Leaf(identity: identity, renewal: end - max(0, end - now) / 4, use: uses)
            }
            return waiters.removeValue(forKey: name) ?? []
        }

        /// A scan of all entries is cheap beside the issuing that needs the room.
        private mutating func evict() {
            guard let oldest = leaves.min(by: { $0.value.use < $1.value.use }) else { return }
            leaves[oldest.key] = nil
        }
    }
}
