import Bytes

/// A time that changes only when it is set: for a loop that is driven by hand.
///
/// Belongs to the thread that drives the loop.
public final class ManualClock {
    private let start: WallTime
    /// The time since the clock was created, plus a beginning other than zero, which means no deadline.
    private(set) var now: LoopInstant

    private static let beginning = LoopInstant.zero + 1_000_000

    /// - Parameter start: the time of day at the start.
    public init(start: WallTime) {
        self.start = start
        now = Self.beginning
    }

    var wallTime: WallTime { start + now.time(since: Self.beginning) }

    public func advance(by time: Milliseconds) { now = now + time }
}
