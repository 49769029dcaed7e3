import Foundation
import TestSupport
import Testing

/// The log at the system's log daemon.
struct SyslogTests {
    @Test(arguments: ["json", "squid"])
    func `requests and events are messages of RFC 5424`(format: String) throws {
        let origin = try RecordingOrigin.answering()
        let daemon = try LogDaemon(at: Scratch.folder("syslog") + "/log")
        try AttacheProcess.running(setting: .init(log: "\(format) syslog \(daemon.path)")) { proxy throws in
            #expect(try proxy.get(origin.url("/x")).status == 200)
            var (access, event) = (String?.none, String?.none)
            while access == nil || event == nil {
                let message = try #require(daemon.next())
                let start = #/<(\d+)>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \S+ attache \d+ (access|event) - /#
                let header = try #require(message.prefixMatch(of: start), "\(message)")
                let text = String(message[header.range.upperBound...])
                if header.output.2 == "access" {
                    #expect(header.output.1 == "30")
                    access = text
                } else if text.contains(#""event":"rules.loaded""#) {
                    event = text
                }
            }
            #expect(access?.contains(origin.url("/x")) == true)
            #expect(access?.hasPrefix("{") == (format == "json"))
            #expect(event?.hasPrefix(#"{"time":""#) == true)
            #expect(proxy.errorOutput.contains("attache: listening on"))
        }
    }
}
