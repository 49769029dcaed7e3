import Synchronization

/// The copies of this process's descriptors that programs have which are being started: one that is closed meanwhile is
/// watched on until its copy is closed, too.
final class DescriptorCopies: Sendable {
    private let starts = Atomic(0)
    /// When the last start came to its end.
    private let end = Atomic<UInt64>(0)

    /// Milliseconds. The system lets the parent go on a little before it closes the child's copies, and the child may have to
    /// wait for a processor in between.
    static let patience: UInt64 = 5000

    /// Whether there may be any.
    /// - Parameter now: milliseconds of the system's monotonic clock.
    func mayExist(at now: UInt64) -> Bool {
        starts.load(ordering: .sequentiallyConsistent) > 0
            || now < end.load(ordering: .sequentiallyConsistent) &+ Self.patience
    }

    /// Starts a program.
    func whileMade<Result>(_ start: () -> Result) -> Result {
        starts.add(1, ordering: .sequentiallyConsistent)
        defer {
            end.store(EventLoop.uptimeMilliseconds, ordering: .sequentiallyConsistent)
            starts.subtract(1, ordering: .sequentiallyConsistent)
        }
        return start()
    }
}
