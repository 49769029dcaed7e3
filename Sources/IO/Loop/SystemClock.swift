import Bytes
import CLinux
import Glibc

/// The time of day, and the monotonic time.
public enum SystemClock {
    /// The time of day.
    public static var wallTime: WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(milliseconds: time.tv_sec &* 1000 &+ time.tv_nsec / 1_000_000)
    }

    /// The time in nanoseconds since 1970-01-01T00:00:00Z.
    static var epochNanoseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return time.tv_sec &* 1_000_000_000 &+ time.tv_nsec
    }

    /// The monotonic time; changes of the time of day do not affect it.
    public static var uptime: LoopInstant { .ofSystem }
}
