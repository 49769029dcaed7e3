import Testing

@testable import Bytes

/// Dates in fields, and the calendar behind them.
struct HTTPDateTests {
    @Test(arguments: [
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (-1, nil), (253_402_300_800, nil),
    ])
    func `a time is written as RFC 9110 writes it`(seconds: Int, text: String?) {
        #expect(HTTPDate.text(WallTime(seconds: seconds)) == text)
    }

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
        ("1 jan 70 0:0:0", 0), ("Fri, 01 Jan 2038 00:00:00", 2_145_916_800), ("01-Jan-69 00:00:00", 3_124_224_000),
        ("32 Jan 2020 00:00:00", nil), ("1 Jan 2020 24:00:00", nil), ("1 Jan 1600 00:00:00", nil), ("", nil),
        ("1 Jan 2020", nil), ("99999999999999999999 Jan 2020 00:00:00", nil),
    ])
    func `a date is read as servers write it`(text: String, seconds: Int?) {
        let read = HTTPDate.time(text.utf8Span.span)
        #expect(read == seconds.map { WallTime(seconds: $0) })
    }

    @Test(arguments: [
        ("0001-01-01", -719_162, 1), ("1600-02-29", -135_081, 2), ("1969-12-31", -1, 3), ("1970-01-01", 0, 4),
        ("2000-02-29", 11_016, 2), ("2026-11-23", 20_780, 1), ("9999-12-31", 2_932_896, 5),
    ])
    func `a day has its number and its weekday`(date: String, number: Int, weekday: Int) {
        let parts = date.split(separator: "-").compactMap { Int($0) }
        #expect(CivilTime.days(year: parts[0], month: parts[1], day: parts[2]) == number)
        for second in [0, 86_399] {
            let time = CivilTime(WallTime(seconds: number * 86_400 + second))
            #expect([time.year, time.month, time.day] == parts && time.weekday == weekday)
            #expect((time.hour * 60 + time.minute) * 60 + time.second == second)
        }
    }

    @Test func `a time beyond four digits of a year is the nearest within`() {
        let (first, last) = (CivilTime(.distantPast), CivilTime(.distantFuture))
        #expect((first.year, first.month, first.day, first.hour) == (1, 1, 1, 0))
        #expect((last.year, last.month, last.day, last.hour) == (9999, 12, 31, 23))
    }
}
