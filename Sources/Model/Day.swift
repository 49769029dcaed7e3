import Bytes

/// A day of the Gregorian calendar, in UTC.
public struct Day: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number of days since 1970-01-01.
    public let number: Int

    public init(number: Int) {
        self.number = number
    }

    /// The day of a time.
    public init(of time: WallTime) {
        let seconds = time.seconds
        number = seconds >= 0 ? seconds / 86_400 : (seconds + 1) / 86_400 - 1
    }

    /// Parses `YYYY-MM-DD` (ISO 8601): a valid day, from 1970 on.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2], parts.allSatisfy({ $0.utf8.allSatisfy(\.isDigit) }),
            let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]), year >= 1970
        else { return nil }
        self.init(number: CivilTime.days(year: year, month: month, day: day))
        // 30 February would be the 1st or 2nd of March.
        guard (date.year, date.month, date.day) == (year, month, day) else { return nil }
    }

    public var description: String { date.dateText }

    /// The first moment after the day.
    public var end: WallTime { WallTime(seconds: (number &+ 1) &* 86_400) }

    public static func < (left: Day, right: Day) -> Bool { left.number < right.number }

    private var date: CivilTime { CivilTime(WallTime(seconds: max(number, 0) &* 86_400)) }
}
