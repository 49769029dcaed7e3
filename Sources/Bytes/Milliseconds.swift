/// A length of time in milliseconds.
///
/// Some come from files and peers, so sums and products stop at the largest and the smallest number.
public struct Milliseconds: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
    public let count: Int

    public init(_ count: Int) { self.count = count }

    public init(integerLiteral count: Int) { self.count = count }

    public static func seconds(_ count: Int) -> Milliseconds { Milliseconds(count) * 1000 }
    public static func minutes(_ count: Int) -> Milliseconds { .seconds(count) * 60 }
    public static func hours(_ count: Int) -> Milliseconds { .minutes(count) * 60 }
    public static func days(_ count: Int) -> Milliseconds { .hours(count) * 24 }

    /// The whole seconds; the rest is left out.
    public var seconds: Int { count / 1000 }

    /// The whole milliseconds of a duration.
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .seconds(Int(clamping: seconds)) + Milliseconds(Int(clamping: attoseconds / 1_000_000_000_000_000))
    }

    public var duration: Duration { .milliseconds(count) }

    /// No limit of time.
    public static var max: Milliseconds { Milliseconds(.max) }

    public static func < (left: Milliseconds, right: Milliseconds) -> Bool { left.count < right.count }

    public static func + (left: Milliseconds, right: Milliseconds) -> Milliseconds {
        Milliseconds(left.count.addingSaturated(right.count))
    }

    public static func - (left: Milliseconds, right: Milliseconds) -> Milliseconds {
        Milliseconds(left.count.subtractingSaturated(right.count))
    }

    public static func * (left: Milliseconds, right: Int) -> Milliseconds {
        let (product, isOver) = left.count.multipliedReportingOverflow(by: right)
        return Milliseconds(!isOver ? product : (left.count < 0) == (right < 0) ? .max : .min)
    }

    /// - Parameter right: a number above zero.
    public static func / (left: Milliseconds, right: Int) -> Milliseconds { Milliseconds(left.count / right) }
}

extension Int {
    /// The sum, or the nearest number that there is.
    func addingSaturated(_ other: Int) -> Int {
        let (sum, isOver) = addingReportingOverflow(other)
        return !isOver ? sum : other < 0 ? .min : .max
    }

    /// The difference, or the nearest number that there is.
    func subtractingSaturated(_ other: Int) -> Int {
        let (difference, isOver) = subtractingReportingOverflow(other)
        return !isOver ? difference : other < 0 ? .max : .min
    }
}
