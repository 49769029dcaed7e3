/// A second of Universal Time by calendar, without a time zone database.
public struct CivilTime: Sendable {
    public let year: Int
    /// The month, 1 to 12.
    public let month: Int
    /// The day of the month, 1 to 31.
    public let day: Int
    public let hour: Int
    public let minute: Int
    public let second: Int
    /// The day of the week; 0 is Sunday.
    public let weekday: Int

    // Days are counted in eras of 400 years, 146,097 days each, that begin on 1 March, so that the leap day is an era's last.
    // 719,468 days lie between 0000-03-01 and 1970-01-01.

    /// Times before the year 1 or after 9999 become the nearest time within.
    public init(_ time: WallTime) {
        let bounded = min(max(time.seconds, -62_135_596_800), 253_402_300_799)
        let date = bounded >= 0 ? bounded / 86_400 : (bounded + 1) / 86_400 - 1
        let time = bounded - date * 86_400
        hour = time / 3600
        minute = time / 60 % 60
        second = time % 60

        // 1970-01-01 was a Thursday.
        weekday = (date % 7 + 11) % 7
        let days = date + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The number of days since 1970-01-01 in the proleptic Gregorian calendar.
    ///
    /// - Parameter day: a day beyond the end of the month counts into the next month.
    public static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The date in the form of ISO 8601, such as `2027-01-31`.
    public var dateText: String {
        "\(String(10_000 + year).dropFirst())-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)"
    }

    var weekdayName: StaticString { Self.weekdayNames[weekday] }
    public var monthName: StaticString { Self.monthNames[month - 1] }

    private static let weekdayNames: [StaticString] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let monthNames: [StaticString] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
