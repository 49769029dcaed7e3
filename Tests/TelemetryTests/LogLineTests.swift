import Bytes
import Model
import Telemetry
import Testing

struct LogLineTests {
    private static func text(
        _ level: LogLine.Level = .info, isSentence: Bool = false, as style: LogLine.Style = .json,
        details: String? = nil,
        _ body: (LogLine) -> Void = { _ in }
    ) -> String {
        let buffer = ByteBuffer(capacity: 64)
        let line = LogLine(into: buffer, at: AccessLogTests.time, level, "x.y", isSentence: isSentence, as: style)
        body(line)
        line.end(details)
        return buffer.readable.text
    }

    @Test func `a line has its members in their order, and none without a value`() {
        let line = Self.text(details: "d \"e\"") { line in
            line.add(EventField.realm, String?.none)
            line.add(EventField.port, 80)
            line.add(EventField.count, Int?.none)
            line.add(EventField.proxy, true)
            line.add(EventField.isDefault, false)
            line.add(EventField.nextTry, time: 1)
        }
        #expect(
            line == #"{"time":"2026-11-21T03:36:00.042Z","level":"info","event":"x.y","port":80,"proxy":true,"#
                + #""next_try":"1970-01-01T00:00:00.001Z","details":"d \"e\""}"# + "\n")
    }

    @Test func `a text of others neither ends its line nor steers a terminal`() {
        let line = Self.text { $0.add(EventField.realm, "a\"\\\r\n\u{1B}[2J\u{9B}é") }
        #expect(line.hasSuffix(#""realm":"a\"\\\u000d\u000a\u001b[2J\u009bé"}"# + "\n"))
        #expect(line.count { $0 == "\n" || $0 == "\r\n" } == 1)
    }

    @Test func `a long text is cut`() {
        let line = Self.text { $0.add(EventField.realm, String(repeating: "é", count: 300)) }
        #expect(line.hasSuffix("\"" + String(repeating: "é", count: 256) + "…\"}\n"))
        #expect(Self.text { $0.add(EventField.realm, String(repeating: "é", count: 256)) }.hasSuffix("é\"}\n"))
    }

    // MARK: - Before a terminal

    @Test func `a person reads the level where it is more than news, the name, the members and the sentence`() {
        let line = Self.text(.warning, as: .console(hasColours: false), details: "why \"this\"") { line in
            line.add(EventField.credential, "ci")
            line.add(EventField.realm, "a \"b\"\\")
            line.add(EventField.port, 80)
            line.add(EventField.proxy, true)
            line.add(EventField.nextTry, time: 1)
        }
        #expect(
            line == #"03:36:00Z warning x.y credential=ci realm="a \"b\"\\" port=80 proxy=true "#
                + #"next_try=1970-01-01T00:00:00.001Z why "this""# + "\n")
        #expect(
            Self.text(isSentence: true, as: .console(hasColours: false), details: "listening on a")
                == "03:36:00Z listening on a\n")
    }

    @Test func `colours stand around the time and the level`() {
        #expect(
            Self.text(.error, as: .console(hasColours: true), details: "d")
                == "\u{1B}[2m03:36:00Z\u{1B}[0m \u{1B}[31merror\u{1B}[0m x.y d\n")
    }

    @Test func `a text of others does not steer a terminal`() {
        let hostile = "a\"\r\n\u{1B}[2J\u{9B}é\u{202E}\u{2066}\u{2028}"
        let shown = #"a\u{d}\u{a}\u{1b}[2J\u{9b}é\u{202e}\u{2066}\u{2028}"#
        let line = Self.text(as: .console(hasColours: false), details: hostile) { $0.add(EventField.realm, hostile) }
        #expect(
            line == "03:36:00Z x.y realm=\"" + shown.replacing("a", with: "a\\\"", maxReplacements: 1) + "\" "
                + shown.replacing("a", with: "a\"", maxReplacements: 1) + "\n")
        let long = Self.text(as: .console(hasColours: false), details: String(repeating: "é", count: 1 << 20)) {
            $0.add(EventField.realm, String(repeating: "é", count: 1 << 20))
        }
        #expect(long.unicodeScalars.count < 1400 && long.hasSuffix("é…\n"))
    }
}
