import Authentication
import IO
import Synchronization

/// The calls of a store that requests wait for, one after the other on a separate thread, with a time limit. A hanging
/// store delays neither the requests nor other work.
final class StoreCalls: Sendable {
    private let pool = BlockingPool(threads: 1)
    private let limit: Duration
    /// The number of calls that exceed their time limit. While there is one, no other call is made.
    private let lateCount = Atomic(0)

    init(limit: Duration = .seconds(2)) { self.limit = limit }

    /// Runs `body`.
    ///
    /// - Parameter body: gets a function that says whether the result is still wanted. Blocks.
    /// - Returns: nil if it took too long, or had no result.
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

        /// Marks the call as late.
        ///
        /// - Returns: false if the call has ended.
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
