import Foundation
import Testing

/// One line for each exchange, saying what was decided.
struct AccessLogTests {
    @Test func `a json line names rule, scheme, credential and attempts`() throws {
        let apache = try ApacheServer.shared()
        let rules = """
            credential ci { user \(Account.user); password file @/password }
            challenge "the \\"build\\" server" { host 127.0.0.1; use ci }
            """
        try AttacheProcess.running(rules) { proxy throws in
            // Its challenge has a `domain`, outside of which nothing is answered unasked.
            let urls = [apache.url("/domain/"), apache.url("/open/")]
            for url in urls { #expect(try proxy.get(url).status == 200) }
            // Each loop writes its own entries: those of two connections may change places.
            let records = try proxy.records(atLeast: 2)
            let first = try #require(records.first { $0["target"] == urls[0] })
            #expect(first["method"] == "GET")
            #expect(first["rule"] == "the \"build\" server")
            #expect(first["scheme"]?.lowercased() == "digest")
            #expect(first["credential"] == "ci")
            #expect(first.attempts >= 1)
            #expect(first["client"]?.hasPrefix("127.0.0.1") == true)
            let second = try #require(records.first { $0["target"] == urls[1] })
            #expect(second["credential"] == nil)
            #expect(second.attempts == 0)
        }
    }

    @Test func `a refused request is logged, and cannot forge a line`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running { proxy throws in
            _ = try proxy.exchange("GET http://a.test/\"},\\n{\"x\":\"\u{7f}é HTTP/1.1\r\nHost: a.test\r\n\r\n")
            #expect(try proxy.get(origin.url("/%22%0d%0a?a=%00")).status == 200)
            let isLogged = Wait.until { proxy.accessLog.contains("/%22%0d%0a?a=%00") }
            #expect(isLogged)
            let target = origin.url("/%22%0d%0a?a=%00")
            #expect(try proxy.records(atLeast: 2).contains { $0["target"] == target })
        }
    }

    @Test func `the common format is what log analysers read`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(setting: .init(log: "common stdout")) { proxy throws in
            #expect(try proxy.get(origin.url("/x")).status == 200)
            let isWritten = Wait.until { proxy.standardOutput.contains("\n") }
            #expect(isWritten)
            let time = #"\[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\]"#
            let line = try Regex(#"127\.0\.0\.1 - - "# + time + #" "GET http://\S+ HTTP/1\.1" 200 2\n"#)
            #expect(proxy.standardOutput.wholeMatch(of: line) != nil, "\(proxy.standardOutput)")
        }
    }

    @Test func `off writes nothing`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(setting: .init(log: "off")) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
            proxy.terminate()
            #expect(proxy.awaitExit() == 0)
            #expect(proxy.standardOutput == "")
        }
    }
}
