import CLinux
import Glibc

/// The access of other processes to this process's memory, which contains passwords.
public enum ProcessMemory {
    /// Prevents core dumps, and access of other processes of the same user to the memory and the environment (prctl(2),
    /// `PR_SET_DUMPABLE`; `RLIMIT_CORE` applies to its children too).
    public static func hide() {
        _ = linux_set_dumpable(false)
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }

    /// Overwrites the values of variables in `/proc/PID/environ`. The process itself then finds them empty too. Call it
    /// while there is one thread.
    public static func hideVariables(_ names: Set<String>) {
        for name in names {
            guard let value = getenv(name) else { continue }
            memset(value, 0, strlen(value))
        }
    }
}

/// The end of the process.
public enum ProcessEnd {
    /// Ends the process while its other threads continue, without the cleanup of `exit`. Libraries would free memory
    /// that those threads still use, and OpenSSL's locks would become null pointers.
    ///
    /// All output is already written: this program keeps none in a buffer of the C library.
    public static func leave(with status: Int32) -> Never { linux_end(status) }
}

/// The arguments that the process was started with.
public enum ProcessArguments {
    /// All arguments, the program's name first.
    public static var all: [String] {
        var all: [String] = []
        while let argument = linux_argument(Int32(clamping: all.count)) { all.append(String(cString: argument)) }
        return all
    }
}
