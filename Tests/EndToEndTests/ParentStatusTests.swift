import Foundation
import TestSupport
import Testing

/// The parents, as an operator sees them: by `attache status`, the metrics and the dashboard.
struct ParentStatusTests {
    private func status(_ proxy: AttacheProcess, _ options: String...) throws -> String {
        let run = try Finished.run(
            AttacheBinary.path, ["status", "--config", "proxy.conf"] + options, directory: proxy.folder, seconds: 20)
        #expect(run.succeeded, "\(run)")
        return run.output
    }

    private func servers(_ proxy: AttacheProcess) throws -> [[String: Any]] {
        let status = try JSONSerialization.jsonObject(with: Data(status(proxy, "--json").utf8)) as? [String: Any]
        return try #require(status?["parent_servers"] as? [[String: Any]])
    }

    @Test func `a parent that is down is seen with its reason, and that it is back`() throws {
        let (apache, squid, dead) = (try ApacheServer.shared(), try SquidServer.shared(.basic), FreePort.take())
        let rules = """
            credential corp { user \(Account.user); password file @/password }
            parent corp { http 127.0.0.1:\(dead) \(squid.address) }
            parent spare { socks5 127.0.0.1:1 }
            challenge { proxy yes; use corp }
            route spare.example { via spare }
            route * { via corp }
            """
        try AttacheProcess.running(rules) { proxy throws in
            let browser = try Browser()
            try browser.visit(try proxy.dashboardLink())
            try browser.awaitText("not used yet", in: "#parents")
            for _ in 1...3 { #expect(try proxy.get(apache.url("/open/")).status == 200) }
            _ = try proxy.records(atLeast: 3)
            var seen = try servers(proxy)
            #expect(seen.map { $0["state"] as? String } == ["failing", "up", "unused"], "\(seen)")
            #expect(seen[0]["last_error"] as? String == "127.0.0.1 port \(dead) refused the connection")
            #expect(seen[0]["requests"] as? Int == 0 && seen[1]["requests"] as? Int == 3, "\(seen)")
            #expect(seen[1]["kind"] as? String == "http" && seen[1]["address"] as? String == squid.address)
            let text = try status(proxy)
            #expect(text.contains("  corp, http://127.0.0.1:\(dead): failing since 20"), "\(text)")
            #expect(text.contains("  spare, socks5://127.0.0.1:1: not used yet\n"), "\(text)")
            let down = "attache_parent_up{parent=\"corp\",address=\"127.0.0.1:\(dead)\"}"
            #expect(try proxy.metric(down) == 0)
            try browser.awaitText("refused the connection", in: "#parents")
            try browser.awaitText("failing", in: "#parents .outcome.bad")
            let first = try RecordingOrigin(on: dead) { connection in
                while try connection.request() != nil { try connection.reply(body: "the first") }
            }
            #expect(try Wait.until { try proxy.get(apache.url("/open/")).text == "the first" })
            #expect(!first.messages.isEmpty)
            #expect(try Wait.until { try servers(proxy)[0]["state"] as? String == "up" })
            seen = try servers(proxy)
            #expect(seen[0]["last_error_time"] != nil && seen[0]["failing_since"] == nil, "\(seen)")
            #expect(try proxy.metric(down) == 1)
            try browser.awaitText("last error", in: "#parents")
            #expect(try Wait.until { try browser.text(of: "#parents .outcome.bad").isEmpty })
            #expect(browser.complaints.isEmpty, "\(browser.complaints)")
        }
    }

    @Test func `requests that a parent refuses for want of a login are told apart`() throws {
        let (apache, squid) = (try ApacheServer.shared(), try SquidServer.shared(.basic))
        try AttacheProcess.running("parent corp { http \(squid.address) }\nroute * { via corp }") { proxy throws in
            #expect(try proxy.get(apache.url("/open/")).status == 502)
            let secure = "https://127.0.0.1:\(apache.securePorts.three)/open/"
            #expect(try proxy.get(secure, "-k").status == 502)
            #expect(try Wait.until { try status(proxy).contains("2 × 407") })
        }
    }

    @Test func `a parent that a PAC file names is among them`() throws {
        let (apache, squid) = (try ApacheServer.shared(), try SquidServer.shared(.nothing))
        let script = "function FindProxyForURL(url, host) { return 'PROXY \(squid.address)' }\n"
        let setting = AttacheProcess.Setting(files: ["proxy.pac": script])
        try AttacheProcess.running(
            "parent auto { pac @/proxy.pac }\nroute * { via auto }", setting: setting
        ) { proxy throws in
            #expect(try proxy.get(apache.url("/open/")).status == 200)
            let text = try status(proxy)
            #expect(text.contains("  auto, http://\(squid.address), named by a PAC file: up; "), "\(text)")
        }
    }
}
