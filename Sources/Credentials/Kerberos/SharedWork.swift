import IO
import Synchronization

/// Work that blocks, done once for all who want the same at the same time.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Work {
        var waiting: [Expectation<Value>] = []
        /// Whether somebody has waited in vain.
        var isOverdue = false
    }

    private let pool: BlockingPool
    /// Pieces of work that are begun or wait at most: clients may ask for as many names as they like.
    private let capacity: Int
    private let underWay = Mutex<[Key: Work]>([:])

    init(on pool: BlockingPool, capacity: Int = 256) {
        self.pool = pool
        self.capacity = capacity
    }

    /// The result of `work`, also if another caller began it. To be awaited on a loop.
    ///
    /// - Parameter limit: milliseconds; nil: as long as it takes.
    /// - Returns: nil when it takes longer than that, or already has for somebody else, when too much waits, or when the task
    ///   was cancelled. Work that has begun goes on nevertheless, and is not begun again before it ends.
    func run(_ key: Key, within limit: Int? = nil, _ work: @escaping @Sendable () -> Value) async -> Value? {
        let own = Expectation<Value>()
        let (begins, isOverdue) = underWay.withLock { underWay in
            let known = underWay[key]
            if known?.isOverdue == true || known == nil && underWay.count >= capacity { return (false, true) }
            underWay[key, default: Work()].waiting.append(own)
            return (known == nil, false)
        }
        if isOverdue { return nil }
        if begins { submit(key, work) }
        if let value = await own.value(within: limit) { return value }
        if Task.isCancelled {
            underWay.withLock { $0[key]?.waiting.removeAll { $0 === own } }
            return nil
        }
        underWay.withLock { underWay in
            // It may have ended just now, and another may be under way.
            if underWay[key]?.waiting.contains(where: { $0 === own }) == true { underWay[key]?.isOverdue = true }
        }
        return nil
    }

    /// Has it done, unless it is under way; nobody waits.
    func start(_ key: Key, _ work: @escaping @Sendable () -> Value) {
        let begins = underWay.withLock { underWay in
            if underWay[key] != nil { return false }
            underWay[key] = Work()
            return true
        }
        if begins { submit(key, work) }
    }

    /// Whether it is under way for longer than somebody wanted to wait.
    func isOverdue(_ key: Key) -> Bool { underWay.withLock { $0[key]?.isOverdue ?? false } }

    func isUnderWay(_ key: Key) -> Bool { underWay.withLock { $0[key] != nil } }

    private func submit(_ key: Key, _ work: @escaping @Sendable () -> Value) {
        pool.submit { [self] in
            // With threads that are all taken, its turn may come when nobody waits any more.
            let value = isOverdue(key) ? nil : work()
            let waiting = underWay.withLock { $0.removeValue(forKey: key) }?.waiting ?? []
            for expectation in waiting { expectation.fulfil(value) }
        }
    }
}
