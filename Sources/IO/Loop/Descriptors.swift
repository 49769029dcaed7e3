import CLinux
import Glibc
import Synchronization

/// The process's limit on open descriptors.
///
/// The system gives the lowest number that is free: how many descriptors are in use can be told from a new one's number,
/// without counting them.
public enum Descriptors {
    /// As of `raiseLimit`.
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

    static let copies = DescriptorCopies()

    /// Starts a program, which has a copy of every descriptor for a moment.
    public static func whileCopied<Result>(_ start: () -> Result) -> Result { copies.whileMade(start) }

    /// Whether a new descriptor with that number leaves few: what is only kept for later is to be let go of.
    static func areFew(behind descriptor: Int32) -> Bool {
        let limit = limit.load(ordering: .relaxed)
        return Int(descriptor) >= limit - limit / 8
    }

    /// Whether it leaves so many that some can be spent on speed.
    static func areMany(behind descriptor: Int32) -> Bool {
        Int(descriptor) < limit.load(ordering: .relaxed) / 4
    }
}

/// The descriptors that a started program finds open.
public enum PassedDescriptors {
    /// Nothing from `descriptor` on, even if a library has opened it without close-on-exec.
    /// - Returns: whether there was memory for that.
    public static func end(before descriptor: Int32, in actions: inout posix_spawn_file_actions_t) -> Bool {
        linux_spawn_close_from(&actions, descriptor) == 0
    }
}
