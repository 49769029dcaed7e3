/// A date in a field (RFC 9110 section 5.6.7).
public enum HTTPDate {
    /// The date in the form of HTTP, such as `Sun, 06 Nov 1994 08:49:37 GMT`. Nil for a time before 1970, or after the
    /// year 9999.
    public static func text(_ time: WallTime) -> String? {
        guard time >= 0, time < WallTime(seconds: 253_402_300_800) else { return nil }
        let date = CivilTime(time)
        let clock = [date.hour, date.minute, date.second].map(twoDigits).joined(separator: ":")
        let year = twoDigits(date.year / 100) + twoDigits(date.year % 100)
        return "\(date.weekdayName), \(twoDigits(date.day)) \(date.monthName) \(year) \(clock) GMT"
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// The time, by the tolerant algorithm of RFC 6265 section 5.1.1; nil if the text is not a date.
    public static func time(_ text: Span<UInt8>) -> WallTime? {
        var time: (Int, Int, Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in tokens(of: text) {
            if time == nil, let found = clock(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = months.firstIndex(of: Array(token.prefix(3).map(\.asciiLowercased))) {
                month = found + 1
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found < 70 ? found + 2000 : found < 100 ? found + 1900 : found
            }
        }
        guard let (hour, minute, second) = time, let day, let month, let year, year >= 1601, (1...31).contains(day),
            hour < 24, minute < 60, second < 60
        else { return nil }
        let days = CivilTime.days(year: year, month: month, day: day)
        return WallTime(seconds: days * 86_400 + hour * 3600 + minute * 60 + second)
    }

    private static func tokens(of text: Span<UInt8>) -> [[UInt8]] {
        text.array.split { byte in
            switch byte {
            case .tab, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
            default: false
            }
        }.prefix(16).map { Array($0) }
    }

    private static func clock(_ token: [UInt8]) -> (Int, Int, Int)? {
        let parts = token.split(separator: .colon, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = number(Array(parts[0]), digits: 1...2, isWhole: true),
            let minute = number(Array(parts[1]), digits: 1...2, isWhole: true),
            let second = number(Array(parts[2]), digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    /// The number at the front; other characters may follow.
    private static func number(_ token: [UInt8], digits: ClosedRange<Int>, isWhole: Bool = false) -> Int? {
        let front = token.prefix(while: \.isDigit)
        guard digits.contains(front.count), !isWhole || front.count == token.count else { return nil }
        return front.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ].map { Array($0.utf8) }
}
