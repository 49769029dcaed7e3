import Bytes
import IO
import Synchronization

/// Blocking work that is done once for all simultaneous callers with equal keys.
final class CoalescedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Work {
        var waiting: [Expectation<Value>] = []
        /// Whether a caller has waited for its time limit.
        var isOverdue = false
    }

    private let pool: BlockingPool
    /// The limit of running and waiting work: clients may request any number of names.
    private let capacity: Int
    private let underWay = Mutex<[Key: Work]>([:])

    init(on pool: BlockingPool, capacity: Int = 256) {
        self.pool = pool
        self.capacity = capacity
    }

    /// The result of `work`, also if another caller began it. Await it on a loop.
    ///
    /// - Parameter limit: nil: no limit.
    /// - Returns: nil if it takes longer than that, or already took too long for another caller, if too much work
    ///   waits, or if the task was cancelled. Work that has begun continues, and is not begun again before it ends.
    func run(_ key: Key, within limit: Milliseconds? = nil, _ work: @escaping @Sendable () -> Value) async -> Value? {
        let own = Expectation<Value>()
        let (begins, isOverdue) = underWay.withLock { underWay in
            let known = underWay[key]
            if known?.isOverdue == true || known == nil && underWay.count >= capacity { return (false, true) }
            underWay[key, default: Work()].waiting.append(own)
            return (known == nil, false)
        }
        if isOverdue { return nil }
        if begins { submit(key, work) }
        if let value = await EventLoop.awaitingOthers({ await own.value(within: limit) }) { return value }
        if Task.isCancelled {
            underWay.withLock { $0[key]?.waiting.removeAll { $0 === own } }
            return nil
        }
        underWay.withLock { underWay in
            // It may have ended just now, and another one may be running.
            if underWay[key]?.waiting.contains(where: { $0 === own }) == true { underWay[key]?.isOverdue = true }
        }
        return nil
    }

    /// Starts the work, unless it is running, without waiting for it.
    func start(_ key: Key, _ work: @escaping @Sendable () -> Value) {
        let begins = underWay.withLock { underWay in
            if underWay[key] != nil { return false }
            underWay[key] = Work()
            return true
        }
        if begins { submit(key, work) }
    }

    /// Whether the work takes longer than a caller wanted to wait.
    func isOverdue(_ key: Key) -> Bool { underWay.withLock { $0[key]?.isOverdue ?? false } }

    func isUnderWay(_ key: Key) -> Bool { underWay.withLock { $0[key] != nil } }

    private func submit(_ key: Key, _ work: @escaping @Sendable () -> Value) {
        pool.submit { [self] in
            // If all threads are busy, the turn may come when no caller waits any longer.
            let value = isOverdue(key) ? nil : work()
            let waiting = underWay.withLock { $0.removeValue(forKey: key) }?.waiting ?? []
            for expectation in waiting { expectation.fulfil(value) }
        }
    }
}
