/// A second of Universal Time by calendar, without a time zone database.
public struct CivilTime: Sendable {
    public let year: Int
    /// 1 to 12.
    public let month: Int
    /// 1 to 31.
    public let day: Int
    public let hour: Int
    public let minute: Int
    public let second: Int
    /// 0 is Sunday.
    public let weekday: Int

    /// Seconds since 1970, as POSIX counts them; those before it or beyond the year 9999 become the nearest within.
    ///
    /// Days are counted in eras of 400 years that begin on 1 March, so that the leap day is an era's last.
    public init(epochSeconds: Int) {
        // Year 9999, the last that four digits can write.
        let bounded = min(max(epochSeconds, 0), 253_402_300_799)
        let time = bounded % 86_400
        hour = time / 3600
        minute = time / 60 % 60
        second = time % 60

        // 1970-01-01 was a Thursday.
        weekday = (bounded / 86_400 + 4) % 7
        let days = bounded / 86_400 + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    public var weekdayName: StaticString {
        switch weekday {
        case 0: "Sun"
        case 1: "Mon"
        case 2: "Tue"
        case 3: "Wed"
        case 4: "Thu"
        case 5: "Fri"
        default: "Sat"
        }
    }

    public var monthName: StaticString {
        switch month {
        case 1: "Jan"
        case 2: "Feb"
        case 3: "Mar"
        case 4: "Apr"
        case 5: "May"
        case 6: "Jun"
        case 7: "Jul"
        case 8: "Aug"
        case 9: "Sep"
        case 10: "Oct"
        case 11: "Nov"
        default: "Dec"
        }
    }
}
