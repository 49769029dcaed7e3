/// A time that stands still until somebody moves it: for a loop that is driven by hand.
///
/// Belongs to the thread that drives the loop.
public final class ManualClock {
    /// Milliseconds since 1970-01-01T00:00:00Z at the start.
    private let epoch: Int
    /// Milliseconds since the clock was made, plus a beginning that is not 0, which stands for no deadline.
    private(set) var uptime: UInt64

    private static let beginning: UInt64 = 1_000_000

    /// - Parameter epochMilliseconds: the time of day at which it stands first.
    public init(epochMilliseconds: Int) {
        epoch = epochMilliseconds
        uptime = Self.beginning
    }

    var nanoseconds: UInt64 { uptime &* 1_000_000 }

    var epochMilliseconds: Int { epoch &+ Int(clamping: uptime &- Self.beginning) }

    public func advance(milliseconds: Int) { uptime &+= UInt64(clamping: milliseconds) }
}
