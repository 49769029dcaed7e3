import IO
import Synchronization

/// Work that blocks, done once for all who want the same at the same time.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let pool: BlockingPool
    private let waiting = Mutex<[Key: [CheckedContinuation<Value, Never>]]>([:])

    init(on pool: BlockingPool) { self.pool = pool }

    /// What `work` returns, whoever began it.
    func run(_ key: Key, _ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            if begins(key, with: continuation) { submit(key, work) }
        }
    }

    /// Has it done, unless it is under way; nobody waits.
    func start(_ key: Key, _ work: @escaping @Sendable () -> Value) {
        if begins(key, with: nil) { submit(key, work) }
    }

    private func begins(_ key: Key, with continuation: CheckedContinuation<Value, Never>?) -> Bool {
        waiting.withLock { waiting in
            let isFirst = waiting[key] == nil
            waiting[key, default: []] += continuation.map { [$0] } ?? []
            return isFirst
        }
    }

    private func submit(_ key: Key, _ work: @escaping @Sendable () -> Value) {
        pool.submit { [self] in
            let value = work()
            let continuations = waiting.withLock { $0.removeValue(forKey: key) } ?? []
            for continuation in continuations { continuation.resume(returning: value) }
        }
    }
}
