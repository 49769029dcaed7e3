import Bytes
import Telemetry
import Testing

struct SyslogHeaderTests {
    @Test(arguments: [(LogLine.Level.info, "<30>"), (.warning, "<28>"), (.error, "<27>")])
    func `a message has priority, program and process`(level: LogLine.Level, priority: String) {
        let buffer = ByteBuffer(capacity: 64)
        SyslogHeader(process: 7).append(to: buffer, level)
        #expect(buffer.readable.text == "\(priority)attache[7]: ")
    }
}
