import Bytes
import Synchronization

extension Descriptors {
    /// The copies of this process's descriptors in programs that are being started. A descriptor that is closed
    /// meanwhile stays watched until its copy is closed too.
    final class Copies: Sendable {
        private let starts = Atomic(0)
        /// The time at which the last start ended, in the nanoseconds of a `LoopInstant`.
        private let end = Atomic<UInt64>(0)

        /// The time to wait after a start. The system lets the parent continue before it closes the child's copies,
        /// and the child may have to wait for a processor.
        static let patience: Milliseconds = 5000

        /// Whether copies may exist.
        /// - Parameter now: the time of the system's monotonic clock.
        func mayExist(at now: LoopInstant) -> Bool {
            starts.load(ordering: .sequentiallyConsistent) > 0
                || now < LoopInstant(nanoseconds: end.load(ordering: .sequentiallyConsistent)) + Self.patience
        }

        /// Starts a program, and counts it meanwhile.
        func whileMade<Result>(_ start: () -> Result) -> Result {
            starts.add(1, ordering: .sequentiallyConsistent)
            defer {
                end.store(LoopInstant.ofSystem.nanoseconds, ordering: .sequentiallyConsistent)
                starts.subtract(1, ordering: .sequentiallyConsistent)
            }
            return start()
        }
    }
}
