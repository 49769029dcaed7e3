import Foundation
import TestSupport
import Testing

/// `/metrics` of a running proxy, as Prometheus reads it.
struct MetricsTests {
    private static func isInstalled(_ name: String) -> Bool { (try? Spawn.executable(name)) != nil }

    private func page(of proxy: AttacheProcess, accepting type: String? = nil) throws -> (Fetched, ExpositionText) {
        let options = type.map { ["-H", "Accept: \($0)"] } ?? []
        let page = try Curl.fetch("http://127.0.0.1:\(proxy.adminPort)/metrics", options)
        return (page, ExpositionText(page.text, isOpenMetrics: type != nil))
    }

    @Test func `both formats are read without a fault, and the process is told as the system sees it`() throws {
        let origin = try RecordingOrigin.answering { try $1.reply(body: "here") }
        try AttacheProcess.running { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
            let (plain, text) = try page(of: proxy)
            #expect(plain["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
            #expect(text.faults.isEmpty, "\(text.faults)")
            let (open, openMetrics) = try page(of: proxy, accepting: "application/openmetrics-text; version=1.0.0")
            #expect(open["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
            #expect(openMetrics.faults.isEmpty, "\(openMetrics.faults)")
            #expect(text.names == openMetrics.names)

            for name in [
                "process_cpu_seconds_total", "process_open_fds", "process_max_fds", "process_resident_memory_bytes",
                "process_virtual_memory_bytes", "attache_loop_lag_seconds_count",
                "attache_phase_duration_seconds_count{phase=\"connect\"}",
                "attache_phase_duration_seconds_count{phase=\"first-byte\"}",
                "attache_phase_duration_seconds_count{phase=\"queue\"}", "attache_upstream_connections_idle",
            ] { #expect(text.value(of: name) ?? 0 > 0, "\(name)") }
            #expect(plain.text.contains("\nattache_build_info{version=\""))
            let started = try #require(text.value(of: "process_start_time_seconds"))
            #expect((0..<600).contains(Date().timeIntervalSince1970 - started))
            #expect(openMetrics.value(of: "process_start_time_seconds") == started)
        }
    }

    @Test(.enabled(if: isInstalled("promtool")))
    func `promtool finds nothing to complain about`() throws {
        let origin = try RecordingOrigin.answering { _, connection in
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"x\""])
        }
        try AttacheProcess.answering(origin.port) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 401)
            let path = Scratch.folder("metrics") + "/page"
            try Scratch.write(try page(of: proxy).0.text, to: path)
            let check = try Finished.run("promtool", ["check", "metrics"], input: path)
            #expect(check.succeeded, "\(check)")
            #expect(check.output + check.errorOutput == "", "\(check)")
        }
    }

    @Test func `reloads are counted by what came of them`() throws {
        try AttacheProcess.running { proxy throws in
            try proxy.reload("route * { via nobody }")
            #expect(proxy.awaitErrorOutput("the rule file was not reloaded"), "\(proxy.errorOutput)")
            try proxy.reload("route * { tunnel }")
            #expect(proxy.awaitErrorOutput("the rule file was reloaded"), "\(proxy.errorOutput)")
            #expect(
                try Wait.until {
                    try proxy.metric("attache_rules_reloads_total{outcome=\"loaded\"}") == 1
                        && proxy.metric("attache_rules_reloads_total{outcome=\"rejected\"}") == 1
                })
        }
    }

    private func attache(_ words: String..., of proxy: AttacheProcess) throws -> Finished {
        // Its control socket is there when it says where it listens.
        _ = proxy.awaitErrorOutput("listening on")
        return try Finished.run(
            AttacheBinary.path, words + ["--config", "proxy.conf"], directory: proxy.folder, seconds: 20)
    }

    @Test func `the ends of certificates and exceptions are told, and those of the store soon`() throws {
        let identity = try ClientCertificate.good.get()
        let rules = """
            store sqlite @/kept.db
            credential device { certificate \(try identity.chain()); key \(identity.key) }
            challenge "lab" { host lab.test; method server-trust; allow self-signed; until 2031-01-01; trust }
            route looked.test { intercept }

            """
        try AttacheProcess.running(rules) { proxy throws in
            let end = { (labels: String) in
                let family = try page(of: proxy).1.families.first { $0.name == "attache_expiry_timestamp_seconds" }
                return family?.samples.first { $0.series.contains(labels) }?.value
            }
            // The first second of 2031-01-02.
            #expect(try Wait.until { try end("kind=\"exception\",name=\"lab\"") == 1_925_078_400 })
            let device = try #require(try end("kind=\"client certificate\",name=\"device\""))
            #expect(device > Date().timeIntervalSince1970)
            let authority = try #require(try end("kind=\"authority\""))
            #expect(authority > Date().timeIntervalSince1970 + 300 * 86_400)

            let kept = try attache(
                "credential", "set", "--certificate", try identity.chain(), "--key", identity.key,
                "https://kept.test/", "box", of: proxy)
            #expect(kept.succeeded, "\(kept)")
            #expect(try Wait.until { try end("kind=\"stored client certificate\"") == device })
        }
    }

    @Test func `the command shows what the page has, and rules that Prometheus takes`() throws {
        try AttacheProcess.running { proxy throws in
            let shown = try attache("metrics", of: proxy)
            #expect(shown.succeeded, "\(shown)")
            let text = ExpositionText(shown.output, isOpenMetrics: false)
            #expect(text.faults.isEmpty, "\(text.faults)")
            #expect(text.names == (try page(of: proxy).1.names))
            guard Self.isInstalled("promtool") else { return }
            let path = Scratch.folder("alerts") + "/attache.rules.yml"
            try Scratch.write(try attache("metrics", "--alerts", of: proxy).output, to: path)
            let check = try Finished.run("promtool", ["check", "rules", path])
            #expect(check.succeeded, "\(check)")
        }
    }

    @Test func `the metrics need the token of a file, which is read again when it changes`() throws {
        let setting = AttacheProcess.Setting(
            admin: "{ metrics token file @/metrics.token }", files: ["password": "x\n"])
        try AttacheProcess.running("", setting: setting) { proxy throws in
            let status = { (token: String?) in
                let field = token.map { ["-H", "Authorization: Bearer \($0)"] } ?? []
                return try Curl.fetch("http://127.0.0.1:\(proxy.adminPort)/metrics", field).status
            }
            // The file is missing.
            #expect(try status(nil) == 401 && status("") == 401)
            #expect(try Curl.fetch("http://127.0.0.1:\(proxy.adminPort)/readyz", []).status == 200)
            for (token, former) in [("first", "x"), ("second", "first")] {
                try Scratch.write("\(token)\n", to: proxy.folder + "/metrics.token", mode: 0o600)
                #expect(try Wait.until { try status(token) == 200 })
                #expect(try status(former) == 401 && status(nil) == 401)
            }
            #expect(proxy.errorOutput.contains("metrics.token: cannot read the file"), "\(proxy.errorOutput)")
            let own = try Finished.run(AttacheBinary.path, ["metrics", "--config", proxy.folder + "/proxy.conf"])
            #expect(own.output.contains("attache_requests_total"), "\(own)")
        }
    }
}
