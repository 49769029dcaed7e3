import Bytes

/// A date as HTTP writes it, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7).
public enum HTTPDate {
    /// - Parameter seconds: since 1970; of a time before, or after the year 9999, nothing can be said.
    public static func text(epochSeconds seconds: Int) -> String? {
        guard (0..<253_402_300_800).contains(seconds) else { return nil }
        let time = CivilTime(epochSeconds: seconds)
        let clock = [time.hour, time.minute, time.second].map(twoDigits).joined(separator: ":")
        let year = twoDigits(time.year / 100) + twoDigits(time.year % 100)
        return "\(time.weekdayName), \(twoDigits(time.day)) \(time.monthName) \(year) \(clock) GMT"
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
