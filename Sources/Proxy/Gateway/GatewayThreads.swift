import IO
import Synchronization

/// Threads for visits to servers that block: no more at once than there may be, and none waits for one to become free.
final class GatewayThreads: Sendable {
    let limit: Int
    private let pool: BlockingPool
    private let busy = Atomic(0)

    init(limit: Int) {
        self.limit = limit
        pool = BlockingPool(threads: limit)
    }

    /// - Returns: whether there is a thread for it.
    func run(_ body: @escaping @Sendable () -> Void) -> Bool {
        guard busy.add(1, ordering: .relaxed).newValue <= limit else {
            busy.subtract(1, ordering: .relaxed)
            return false
        }
        pool.submit {
            body()
            self.busy.subtract(1, ordering: .relaxed)
        }
        return true
    }
}
