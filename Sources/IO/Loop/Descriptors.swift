import Bytes
import CLinux
import Glibc
import Synchronization

/// The process's limit on open descriptors.
///
/// The system uses the lowest free number. So the number of a new descriptor shows how many are in use, without
/// counting.
public enum Descriptors {
    /// The limit, from `raiseLimit`.
    private static let limit = Atomic(Int.max)

    /// Raises the soft limit to the hard one, and returns it.
    @discardableResult
    public static func raiseLimit() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let count = Int(clamping: limit.rlim_cur)
        self.limit.store(count, ordering: .relaxed)
        return count
    }

    static let copies = Copies()

    /// Starts a program, which briefly has a copy of every descriptor.
    public static func whileCopied<Result>(_ start: () -> Result) -> Result { copies.whileMade(start) }

    /// Whether few descriptors are left after a new one with that number, so that idle ones should be closed.
    static func areFew(behind descriptor: Int32) -> Bool {
        let limit = limit.load(ordering: .relaxed)
        return Int(descriptor) >= limit - limit / 8
    }

    /// Whether so many descriptors are left that some can be used for speed.
    static func areMany(behind descriptor: Int32) -> Bool {
        Int(descriptor) < limit.load(ordering: .relaxed) / 4
    }

    /// Closes all descriptors from `descriptor` on in a program that is being started, even those that a library opened
    /// without close-on-exec.
    /// - Returns: whether there was memory for that.
    public static func endPassed(from descriptor: Int32, in actions: inout posix_spawn_file_actions_t) -> Bool {
        linux_spawn_close_from(&actions, descriptor) == 0
    }

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
