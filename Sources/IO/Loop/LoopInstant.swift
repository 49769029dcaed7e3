import Bytes
import Glibc

/// A time on the clock of an event loop. Changes of the time of day do not affect it.
public struct LoopInstant: Hashable, Comparable, Sendable {
    /// The nanoseconds since the clock's zero.
    let nanoseconds: UInt64

    static let nanosecondsPerMillisecond: UInt64 = 1_000_000

    /// A time before all times of a loop.
    public static var zero: LoopInstant { LoopInstant(nanoseconds: 0) }

    /// A time after all times of a loop.
    public static var distantFuture: LoopInstant { LoopInstant(nanoseconds: .max) }

    /// The time of the system's monotonic clock.
    static var ofSystem: LoopInstant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return LoopInstant(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    public static func < (left: LoopInstant, right: LoopInstant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// A later time; the same for a length below zero. More than 278 years count as 278 years.
    public static func + (left: LoopInstant, right: Milliseconds) -> LoopInstant {
        let length = UInt64(min(max(right.count, 0), 1 << 43))
        return LoopInstant(nanoseconds: left.nanoseconds &+ length &* nanosecondsPerMillisecond)
    }

    /// The nanoseconds since an earlier time.
    public func nanoseconds(since start: LoopInstant) -> UInt64 { nanoseconds &- start.nanoseconds }

    /// The time that many nanoseconds earlier.
    public func minus(nanoseconds count: UInt64) -> LoopInstant { LoopInstant(nanoseconds: nanoseconds &- count) }

    /// The whole milliseconds since an earlier time.
    public func time(since start: LoopInstant) -> Milliseconds {
        Milliseconds(Int(clamping: nanoseconds(since: start) / Self.nanosecondsPerMillisecond))
    }

    /// The milliseconds until a time, rounded up; 0 if it has passed.
    public func time(until end: LoopInstant) -> Milliseconds {
        guard end > self else { return 0 }
        let rest = end.nanoseconds &- nanoseconds &+ Self.nanosecondsPerMillisecond &- 1
        return Milliseconds(Int(clamping: rest / Self.nanosecondsPerMillisecond))
    }
}
