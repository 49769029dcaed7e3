import Synchronization

/// A time in Universal Time, in milliseconds since 1970-01-01T00:00:00Z.
///
/// Some come from files and peers, so sums stop at `distantPast` and `distantFuture`.
public struct WallTime: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
    /// The milliseconds since 1970.
    public let milliseconds: Int

    public init(milliseconds: Int) { self.milliseconds = milliseconds }

    /// - Parameter milliseconds: since 1970.
    public init(integerLiteral milliseconds: Int) { self.milliseconds = milliseconds }

    /// - Parameter seconds: since 1970, as in POSIX.
    public init(seconds: Int) { milliseconds = Milliseconds.seconds(seconds).count }

    /// The seconds since 1970, as in POSIX; the rest is left out.
    public var seconds: Int { milliseconds / 1000 }

    /// A time before all others.
    public static var distantPast: WallTime { WallTime(milliseconds: .min) }
    /// A time after all others: no time is set.
    public static var distantFuture: WallTime { WallTime(milliseconds: .max) }

    public static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }

    public static func + (left: WallTime, right: Milliseconds) -> WallTime {
        WallTime(milliseconds: left.milliseconds.addingSaturated(right.count))
    }

    public static func - (left: WallTime, right: Milliseconds) -> WallTime {
        WallTime(milliseconds: left.milliseconds.subtractingSaturated(right.count))
    }

    public static func - (left: WallTime, right: WallTime) -> Milliseconds {
        Milliseconds(left.milliseconds.subtractingSaturated(right.milliseconds))
    }
}

extension WallTime: AtomicRepresentable {
    public typealias AtomicRepresentation = Int.AtomicRepresentation

    public static func encodeAtomicRepresentation(_ time: consuming WallTime) -> AtomicRepresentation {
        Int.encodeAtomicRepresentation(time.milliseconds)
    }

    public static func decodeAtomicRepresentation(_ representation: consuming AtomicRepresentation) -> WallTime {
        WallTime(milliseconds: Int.decodeAtomicRepresentation(representation))
    }
}
