import Glibc

/// Waiting on a thread that may block: never one of a loop's.
public enum Pause {
    public static func milliseconds(_ milliseconds: Int) {
        usleep(UInt32(clamping: milliseconds) &* 1000)
    }
}
