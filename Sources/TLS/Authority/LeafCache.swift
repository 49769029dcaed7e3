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
    ///   - origin: what `mint` may make the leaf alike to; not looked at where there is one already.
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
