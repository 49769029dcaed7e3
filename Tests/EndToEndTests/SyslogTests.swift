import Foundation
import TestSupport
import Testing

/// The log at the system's log daemon, rsyslog.
struct SyslogTests {
    @Test(arguments: ["json", "squid"])
    func `the daemon understands requests and events`(format: String) throws {
        let origin = try RecordingOrigin.answering()
        let daemon = try LogServer()
        try AttacheProcess.running(setting: .init(log: "\(format) syslog \(daemon.socket)")) { proxy throws in
            #expect(try proxy.get(origin.url("/x")).status == 200)
            // Bytes of others, and a line that is long.
            #expect(try proxy.get(origin.url("/%C3%BC?\(String(repeating: "y", count: 3000))")).status == 200)
            _ = Wait.until { daemon.messages.count { $0.text.contains(origin.url("/")) } == 2 }
            let messages = daemon.messages
            let access = messages.filter { $0.text.contains(origin.url("/")) }
            try #require(access.count == 2)
            #expect(access.allSatisfy { $0.text.hasPrefix("{") == (format == "json") })
            #expect(access.contains { $0.text.contains(String(repeating: "y", count: 3000)) })
            let event = try #require(messages.first { $0.text.contains(#""event":"rules.loaded""#) })
            #expect(event.text.hasPrefix(#"{"time":""#))
            for message in access + [event] {
                #expect(message.program == "attache")
                #expect(message.process == "\(proxy.identifier)")
                #expect(message.facility == "daemon")
                #expect(message.severity == "info")
            }
            #expect(proxy.errorOutput.contains("attache: listening on"))
        }
    }

    @Test func `what went wrong has a severity of its own`() throws {
        let daemon = try LogServer()
        try AttacheProcess.running(setting: .init(log: "json syslog \(daemon.socket)")) { proxy throws in
            try proxy.reload("nonsense\n")
            #expect(Wait.until { daemon.messages.contains { ["err", "warning"].contains($0.severity) } })
        }
    }
}
