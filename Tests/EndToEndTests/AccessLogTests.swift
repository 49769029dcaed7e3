import Foundation
import TestSupport
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

    @Test(arguments: [(SIGUSR1, "the access log was reopened"), (SIGHUP, "the rule file was reloaded")])
    func `a log that was renamed is opened anew`(signal: Int32, words: String) throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running { proxy throws in
            #expect(try proxy.get(origin.url("/before")).status == 200)
            let isLogged = Wait.until { proxy.accessLog.contains("/before") }
            #expect(isLogged)
            rename(proxy.folder + "/access.log", proxy.folder + "/access.log.1")
            proxy.signal(signal)
            #expect(proxy.awaitErrorOutput(words), "\(proxy.errorOutput)")
            #expect(try proxy.get(origin.url("/behind")).status == 200)
            let isLoggedAnew = Wait.until { proxy.accessLog.contains("/behind") }
            #expect(isLoggedAnew)
            #expect(!proxy.accessLog.contains("/before"))
            let former = Scratch.read(proxy.folder + "/access.log.1")
            #expect(former.contains("/before") && !former.contains("/behind"))
        }
    }

    @Test func `a full disk costs lines and no request, and is reported once`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(setting: .init(log: "json file /dev/full")) { proxy throws in
            let words = "the access log cannot be written, and lines are lost: no space left on device"
            for _ in 1...20 { #expect(try proxy.get(origin.url()).status == 200) }
            #expect(proxy.awaitErrorOutput(words), "\(proxy.errorOutput)")
            for _ in 1...20 { #expect(try proxy.get(origin.url()).status == 200) }
            let isCounted = try Wait.until {
                try Curl.fetch("http://127.0.0.1:\(proxy.adminPort)/metrics").text.split(separator: "\n").contains {
                    $0.hasPrefix("attache_log_lines_dropped_total ") && !$0.hasSuffix(" 0")
                }
            }
            #expect(isCounted)
            #expect(proxy.errorOutput.split(separator: "\n").count { $0.contains(words) } == 1)
        }
    }

    @Test func `a log that nobody reads costs lines and no request, and both are told`() throws {
        let origin = try RecordingOrigin.answering()
        var setting = AttacheProcess.Setting(log: "json stdout")
        setting.hasFullOutput = true
        try AttacheProcess.running(setting: setting) { proxy throws in
            let dropped = {
                try Curl.fetch("http://127.0.0.1:\(proxy.adminPort)/metrics").text.split(separator: "\n").contains {
                    $0.hasPrefix("attache_log_lines_dropped_total ") && !$0.hasSuffix(" 0")
                }
            }
            let wire = try proxy.connect()
            // As many bytes as wait at most, in lines as long as they may be.
            let url = origin.url("/" + String(repeating: "x", count: 12 << 10))
            let request = "GET \(url) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n"
            for _ in 0..<(17 << 20) / (12 << 10) {
                try wire.send(request)
                #expect(try wire.readResponse().status == 200)
            }
            let isCounted = try Wait.until {
                try wire.send(request)
                #expect(try wire.readResponse().status == 200)
                return try dropped()
            }
            #expect(isCounted)
            #expect(proxy.awaitErrorOutput("the access log is too slow, and some lines are lost"))
        }
    }

    /// The report is made on the loop that serves the next request.
    @Test func `standard error that nobody reads stops no request`() throws {
        let origin = try RecordingOrigin.answering { _, connection in
            try connection.wire.send(
                "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n")
        }
        let setting = AttacheProcess.Setting(threads: 1, hasFullErrorOutput: true)
        try AttacheProcess.answering(origin.port, setting: setting) { proxy throws in
            for _ in 1...3 { #expect([401, 502].contains(try proxy.get(origin.url()).status)) }
            #expect(origin.messages.contains { $0["Authorization"] != nil })
        }
    }
}
