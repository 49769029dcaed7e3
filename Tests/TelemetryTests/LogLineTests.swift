import Bytes
import Telemetry
import Testing

struct LogLineTests {
    private static func text(_ body: (LogLine) -> Void) -> String {
        let buffer = ByteBuffer(capacity: 64)
        let line = LogLine(into: buffer, at: AccessLogTests.time)
        body(line)
        line.end()
        return buffer.readable.text
    }

    @Test func `a line has its members in their order, and none without a value`() {
        let line = Self.text { line in
            line.add("event", "x.y")
            line.add("nothing", String?.none)
            line.add("port", 80)
            line.add("none", Int?.none)
            line.add("proxy", true)
            line.add("default", false)
            line.add("next", time: 1)
        }
        #expect(
            line == #"{"time":"2026-11-21T03:36:00.042Z","event":"x.y","port":80,"proxy":true,"#
                + #""next":"1970-01-01T00:00:00.001Z"}"# + "\n")
    }

    @Test func `a text of others neither ends its line nor steers a terminal`() {
        let line = Self.text { $0.add("realm", "a\"\\\r\n\u{1B}[2J\u{9B}é") }
        #expect(line.hasSuffix(#""realm":"a\"\\\u000d\u000a\u001b[2J\u009bé"}"# + "\n"))
        #expect(line.count { $0 == "\n" || $0 == "\r\n" } == 1)
    }

    @Test func `a long text is cut`() {
        let line = Self.text { $0.add("realm", String(repeating: "é", count: 300)) }
        #expect(line.hasSuffix("\"" + String(repeating: "é", count: 256) + "…\"}\n"))
        #expect(Self.text { $0.add("realm", String(repeating: "é", count: 256)) }.hasSuffix("é\"}\n"))
    }
}
