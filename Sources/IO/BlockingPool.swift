import Glibc
import Synchronization

/// A few threads for calls that block: files, password hashes. A task awaits the answer and is resumed on its own loop.
///
/// `@unchecked Sendable`: the queue and the counts are guarded by `lock`, a pthread mutex, since a condition variable
/// needs one.
public final class BlockingPool: @unchecked Sendable {
    public static let shared = BlockingPool(threads: 4)

    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let work: UnsafeMutablePointer<pthread_cond_t>
    private let limit: Int
    private let startThread: @Sendable (@escaping @Sendable () -> Void) -> Bool
    private var queue = Ring<@Sendable () -> Void>()
    private var started = 0
    private var idle = 0

    public convenience init(threads: Int) {
        self.init(threads: threads) { SystemThread.start(name: "blocking", $0) }
    }

    /// - Parameter startThread: gives a thread, or false; for tests.
    init(threads: Int, startThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool) {
        self.startThread = startThread
        limit = max(1, threads)
        lock = .allocate(capacity: 1)
        work = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
        pthread_cond_init(work, nil)
    }

    /// Runs `body` on one of the pool's threads and returns what it returns.
    public func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withUnsafeContinuation { continuation in
            submit { continuation.resume(returning: body()) }
        }
    }

    /// Runs `body` on one of the pool's threads, soon.
    public func submit(_ body: @escaping @Sendable () -> Void) {
        pthread_mutex_lock(lock)
        queue.append(body)
        // A thread that was woken counts as idle until it has its work, which may be another's.
        let startsThread = queue.count > idle && started < limit
        if startsThread { started += 1 }
        pthread_cond_signal(work)
        pthread_mutex_unlock(lock)
        if startsThread, !startThread({ self.serve() }) { doWithout() }
    }

    /// The system gave no thread: those that run do the work, and if there is none, whoever brought it.
    private func doWithout() {
        pthread_mutex_lock(lock)
        started -= 1
        var orphans = Ring<@Sendable () -> Void>()
        if started == 0 { swap(&orphans, &queue) }
        pthread_mutex_unlock(lock)
        while let body = orphans.popFirst() { body() }
    }

    private func serve() -> Never {
        while true {
            pthread_mutex_lock(lock)
            idle += 1
            while queue.isEmpty { pthread_cond_wait(work, lock) }
            idle -= 1
            let body = queue.popFirst()
            pthread_mutex_unlock(lock)
            body?()
        }
    }
}
