import Bytes
import Testing

struct InternetTimeTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("2026-11-27T04:05:06Z", 1_795_752_306_000),
        ("2026-11-27T04:05:06.5Z", 1_795_752_306_500), ("2026-11-27t04:05:06.123456789z", 1_795_752_306_123),
        ("2026-11-27T05:05:06+01:00", 1_795_752_306_000), ("2026-11-26T23:35:06-04:30", 1_795_752_306_000),
    ])
    func `times of RFC 3339`(text: String, time: WallTime) {
        #expect(InternetTime.time(text.utf8Span.span) == time)
    }

    @Test(arguments: [
        "", "2026-11-27", "2026-11-27T04:05:06", "2026-13-27T04:05:06Z", "2026-11-27T24:05:06Z",
        "2026-11-27T04:05:06ZZ",
        "2026-11-27T04:05:06.Z", "2026-11-27T04:05:06+0100", "2026-11-27T04:05:06+1:000", "20261127T040506Z0000000",
        "1969-11-27T04:05:06Z", "2026-11-27T04:05:06.999999999999999999999999999Z\u{0}",
    ])
    func `other texts are no time`(text: String) {
        #expect(InternetTime.time(text.utf8Span.span) == nil)
    }
}
