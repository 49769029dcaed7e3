/// A time that changes only when it is set: for a loop that is driven by hand.
///
/// Belongs to the thread that drives the loop.
public final class ManualClock {
    /// The start in milliseconds since 1970-01-01T00:00:00Z.
    private let epoch: Int
    /// The milliseconds since the clock was created, plus a beginning other than 0, which means no deadline.
    private(set) var uptime: UInt64

    private static let beginning: UInt64 = 1_000_000

    /// - Parameter epochMilliseconds: the time of day at the start.
    public init(epochMilliseconds: Int) {
        epoch = epochMilliseconds
        uptime = Self.beginning
    }

    var nanoseconds: UInt64 { uptime &* 1_000_000 }

    var epochMilliseconds: Int { epoch &+ Int(clamping: uptime &- Self.beginning) }

    public func advance(milliseconds: Int) { uptime &+= UInt64(clamping: milliseconds) }
}
