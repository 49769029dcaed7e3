import Authentication
import IO
import Synchronization

/// Calls of a store that requests wait for, one after the other on a thread of their own, and not for long: a store that hangs
/// holds up neither the requests nor other work.
final class StoreCalls: Sendable {
    private let pool = BlockingPool(threads: 1)
    private let limit: Duration
    /// Calls that take longer than they are waited for. While there is one, no other call is made.
    private let lateCount = Atomic(0)

    init(limit: Duration = .seconds(2)) { self.limit = limit }

    /// Carries `body` out.
    ///
    /// - Parameter body: given whether its result is still waited for. Blocks.
    /// - Returns: nil where it took too long, or had no result.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (_ isWanted: @Sendable () -> Bool) -> Value?
    ) async -> Value? {
        if lateCount.load(ordering: .acquiring) > 0 { return nil }
        let call = Call<Value>()
        pool.submit {
            let value = call.promise.isOver ? nil : body { !call.promise.isOver }
            if call.ends() { self.lateCount.subtract(1, ordering: .releasing) }
            call.promise.keep(value)
        }
        let timer = Task { [limit] in
            guard (try? await Task.sleep(for: limit)) != nil, call.isLate() else { return }
            self.lateCount.add(1, ordering: .releasing)
            call.promise.expire()
        }
        defer { timer.cancel() }
        return await call.promise.value()
    }

    private final class Call<Value: Sendable>: Sendable {
        private enum Stage { case waitedFor, late, over }

        let promise = Promise<Value>()
        private let stage = Mutex(Stage.waitedFor)

        /// The time is up.
        ///
        /// - Returns: false where the call is over.
        func isLate() -> Bool {
            stage.withLock { stage in
                if stage == .over { return false }
                stage = .late
                return true
            }
        }

        /// - Returns: whether the call was late.
        func ends() -> Bool {
            stage.withLock { stage in
                defer { stage = .over }
                return stage == .late
            }
        }
    }
}
