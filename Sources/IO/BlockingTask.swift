import CLinux
import Glibc
import Synchronization

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
