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

    /// The descriptors that a started program inherits.
    public enum Passed {
        /// Closes all descriptors from `descriptor` on in the program, even those that a library opened without
        /// close-on-exec.
        /// - Returns: whether there was memory for that.
        public static func end(before descriptor: Int32, in actions: inout posix_spawn_file_actions_t) -> Bool {
            linux_spawn_close_from(&actions, descriptor) == 0
        }
    }
}
