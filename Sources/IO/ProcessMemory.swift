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

/// The arguments that the process was started with.
public enum ProcessArguments {
    /// The program's name first.
    public static var all: [String] {
        var all: [String] = []
        while let argument = linux_argument(Int32(clamping: all.count)) { all.append(String(cString: argument)) }
        return all
    }
}
