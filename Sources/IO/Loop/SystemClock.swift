import CLinux
import Glibc

/// The time of day, and the time that passes.
public enum SystemClock {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public static var epochMilliseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return time.tv_sec &* 1000 &+ time.tv_nsec / 1_000_000
    }

    /// Nanoseconds since 1970-01-01T00:00:00Z.
    static var epochNanoseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return time.tv_sec &* 1_000_000_000 &+ time.tv_nsec
    }

    /// Milliseconds since some moment, whatever becomes of the time of day.
    public static var uptimeMilliseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec &* 1000 &+ time.tv_nsec / 1_000_000
    }
}
