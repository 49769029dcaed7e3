import Bytes
import IO
import Synchronization

/// Threads for visits to servers that block, up to a limit. A visit never waits for a thread.
///
/// A visit may take hours, so a queue would be useless. Instead, an address (an IPv6 network of 64 bits, or all of
/// loopback, counts as one) gets at most half of the threads that the others leave. One address alone gets half of all,
/// the next a quarter, and further ones still find some.
final class GatewayThreads: Sendable {
    /// The reason why no thread is available.
    enum Shortage: Error {
        case all
        case address
    }

    private struct State {
        var busy = 0
        /// The number of threads by address, without zeros.
        var byAddress: [IPAddress: Int] = [:]
    }

    let limit: Int
    private let pool: BlockingPool
    private let state = Mutex(State())

    init(limit: Int) {
        self.limit = limit
        pool = BlockingPool(threads: limit)
    }

    /// Runs `body` on a thread of its own.
    /// - Parameter address: the address of the client; nil at a unix socket.
    func run(for address: IPAddress?, _ body: @escaping @Sendable () -> Void) throws(Shortage) {
        let network = address?.network ?? IPAddress(v6High: 0, low: 0)
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
