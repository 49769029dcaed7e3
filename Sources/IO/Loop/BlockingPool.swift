import CLinux
import Glibc
import Synchronization

/// A few threads for calls that block: files, password hashes. A task awaits the result and is resumed on its own loop.
///
/// `@unchecked Sendable`: `lock` guards the queue and the counts. It is a pthread mutex, since a condition variable
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

    /// - Parameter startThread: starts a thread, or returns false; for tests.
    init(threads: Int, startThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool) {
        self.startThread = startThread
        limit = max(1, threads)
        lock = .allocate(capacity: 1)
        work = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
        pthread_cond_init(work, nil)
    }

    /// Runs `body` on one of the pool's threads and returns its result.
    public func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        let loop = EventLoop.current
        loop?.workElsewhere += 1
        defer { loop?.workElsewhere -= 1 }
        return await withUnsafeContinuation { continuation in
            submit { continuation.resume(returning: body()) }
        }
    }

    /// Runs `body` on one of the pool's threads, soon.
    public func submit(_ body: @escaping @Sendable () -> Void) {
        pthread_mutex_lock(lock)
        queue.append(body)
        // A woken thread counts as idle until it takes its work, which may be another's.
        let startsThread = queue.count > idle && started < limit
        if startsThread { started += 1 }
        pthread_cond_signal(work)
        pthread_mutex_unlock(lock)
        if startsThread, !startThread({ self.serve() }) { doWithout() }
    }

    /// Handles a thread that could not be started: the running threads do the work. Without any, the caller does it.
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

/// Runs a task on a loop of its own, for a command without a loop. The calling thread waits.
public enum BlockingTask {
    private final class Outcome<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }

    /// - Returns: the result of `body`.
    /// - Throws: if the process has no descriptors left for a loop.
    public static func run<Value: Sendable>(
        _ body: @escaping @Sendable (EventLoop) async -> Value
    ) throws(IOError) -> Value {
        let loop = try EventLoop(index: 0)
        let arrival = eventfd(0, Int32(EFD_CLOEXEC))
        guard arrival >= 0 else { throw .system(errno: errno, operation: "cannot wait for a task") }
        defer { close(arrival) }
        let outcome = Outcome<Value>()
        loop.start()
        loop.spawn {
            let value = await body(loop)
            outcome.value.withLock { $0 = value }
            var one: UInt64 = 1
            _ = write(arrival, &one, 8)
        }
        while true {
            var count: UInt64 = 0
            _ = read(arrival, &count, 8)
            if let value = outcome.value.withLock({ $0 }) { return value }
        }
    }
}

/// A queue in a ring of slots. It releases taken elements at once, grows as needed, and frees its memory when it is
/// empty again.
struct Ring<Element> {
    private var slots: [Element?] = Array(repeating: nil, count: Self.usual)
    private var head = 0
    private(set) var count = 0

    /// The number of slots that are kept while the ring is empty.
    private static var usual: Int { 256 }

    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element) {
        if count == slots.count { grow() }
        slots[(head + count) & (slots.count - 1)] = element
        count += 1
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = slots[head].take()
        head = (head + 1) & (slots.count - 1)
        count -= 1
        if count == 0, slots.count > Self.usual { self = Ring() }
        return element
    }

    private mutating func grow() {
        var larger: [Element?] = Array(repeating: nil, count: slots.count * 2)
        for offset in 0..<count { larger[offset] = slots[(head + offset) & (slots.count - 1)].take() }
        slots = larger
        head = 0
    }
}
