import Bytes
import Telemetry
import Testing

struct SyslogHeaderTests {
    private static func text(_ host: String, _ level: LogLevel, _ kind: SyslogHeader.Kind) -> String {
        let buffer = ByteBuffer(capacity: 64)
        SyslogHeader(host: host, process: 7).append(to: buffer, at: AccessLogTests.time, level, kind)
        return buffer.readable.text
    }

    @Test func `a message has priority, time, host, program, process and kind`() {
        #expect(Self.text("box", .info, .access) == "<30>1 2026-11-21T03:36:00.042Z box attache 7 access - ")
        #expect(Self.text("box", .warning, .event) == "<28>1 2026-11-21T03:36:00.042Z box attache 7 event - ")
        #expect(Self.text("box", .error, .event) == "<27>1 2026-11-21T03:36:00.042Z box attache 7 event - ")
    }

    @Test(arguments: ["", "a b", "ü", String(repeating: "a", count: 256)])
    func `a name that is no host's is unknown`(host: String) {
        #expect(Self.text(host, .info, .access).hasPrefix("<30>1 2026-11-21T03:36:00.042Z - attache 7 "))
    }
}
