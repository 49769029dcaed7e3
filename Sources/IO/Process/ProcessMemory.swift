import CLinux
import Glibc

/// The view of others into this process's memory, in which passwords are.
public enum ProcessMemory {
    /// From now on the process leaves no core dump, whatever ends it, and processes of the same user can neither look into
    /// its memory nor read its environment (prctl(2), `PR_SET_DUMPABLE`; `RLIMIT_CORE` holds for its children as well).
    public static func hide() {
        _ = linux_set_dumpable(false)
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }

    /// Overwrites the values of variables where the system shows them, in `/proc/PID/environ`. The process itself finds
    /// them empty as well. To be called while there is one thread.
    public static func hideVariables(_ names: Set<String>) {
        for name in names {
            guard let value = getenv(name) else { continue }
            memset(value, 0, strlen(value))
        }
    }
}

/// The end of the process.
public enum ProcessEnd {
    /// Ends the process while its other threads go on. What libraries do at the usual end, `exit`, is left out: they free
    /// there what those threads use until the last moment, and OpenSSL's locks are null pointers afterwards.
    ///
    /// All output is written before: nothing here is kept in a buffer of the C library.
    public static func leave(with status: Int32) -> Never { linux_end(status) }
}

/// The arguments that the process was started with.
public enum ProcessArguments {
    /// The program's name first.
    public static var all: [String] {
        var all: [String] = []
        while let argument = linux_argument(Int32(clamping: all.count)) { all.append(String(cString: argument)) }
        return all
    }
}
