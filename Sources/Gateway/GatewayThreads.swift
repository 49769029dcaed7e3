import Bytes
import IO
import Synchronization

/// Threads for visits to servers that block: no more at once than there may be, and none waits for one to become free.
///
/// A visit may take hours, so that a turn in a queue would be worth nothing. Instead, an address (an IPv6 network of 64 bits
/// is one, and so is loopback) has at most half of what the others leave: one alone half of all, the next a quarter, and
/// whoever comes then finds some as well.
final class GatewayThreads: Sendable {
    /// Why there is none.
    public enum Shortage: Error {
        case all
        case address
    }

    private struct State {
        var busy = 0
        /// Without addresses that have none.
        var byAddress: [IPAddress: Int] = [:]
    }

    public let limit: Int
    private let pool: BlockingPool
    private let state = Mutex(State())

    public init(limit: Int) {
        self.limit = limit
        pool = BlockingPool(threads: limit)
    }

    /// Has `body` run on a thread of its own.
    /// - Parameter address: for whom.
    public func run(for address: IPAddress, _ body: @escaping @Sendable () -> Void) throws(Shortage) {
        let network = address.network
        if let shortage = take(for: network) { throw shortage }
        pool.submit { [self] in
            body()
            give(of: network)
        }
    }

    private func take(for network: IPAddress) -> Shortage? {
        state.withLock { state in
            let own = state.byAddress[network] ?? 0
            let left = limit - (state.busy - own)
            guard own < (left + 1) / 2 else { return state.busy < limit ? .address : .all }
            state.busy += 1
            state.byAddress[network] = own + 1
            return nil
        }
    }

    private func give(of network: IPAddress) {
        state.withLock { state in
            state.busy -= 1
            let own = state.byAddress[network] ?? 1
            state.byAddress[network] = own > 1 ? own - 1 : nil
        }
    }
}
