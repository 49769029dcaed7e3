import CLinux
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

/// A task on a loop of its own that the calling thread waits for. For a command that has no loop.
public enum BlockingTask {
    private final class Outcome<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }

    /// - Returns: what `body` returns.
    /// - Throws: when the process has no descriptors left for a loop.
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

/// A queue in a ring of slots. It lets go of what was taken at once, grows as it must, and gives its memory back when it
/// is empty again.
struct Ring<Element> {
    private var slots: [Element?] = Array(repeating: nil, count: Self.usual)
    private var head = 0
    private(set) var count = 0

    /// Slots that are kept while nothing is in them.
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
