import Foundation
import TestSupport
import Testing

/// Our metrics, board and alert rules in a real Prometheus.
struct PrometheusTests {
    private static var isInstalled: Bool { (try? Spawn.executable("prometheus")) != nil }
    /// A rule's name, which becomes a label.
    private static let hostile = "<script>alert(1)</script> \\\" \u{202E}{{.}}"

    private func printed(_ option: String) throws -> String {
        let run = try Finished.run(AttacheBinary.path, ["metrics", option])
        #expect(run.succeeded, "\(run)")
        return run.output
    }

    /// The board's expressions, with a value for each of its variables.
    private func expressions() throws -> [String] {
        let board = try JSONSerialization.jsonObject(with: Data(printed("--grafana").utf8)) as? [String: Any]
        let panels = board?["panels"] as? [[String: Any]] ?? []
        let targets = panels.flatMap { $0["targets"] as? [[String: Any]] ?? [] }
        return targets.compactMap { $0["expr"] as? String }.map {
            $0.replacing("$instance", with: ".*").replacing("$__rate_interval", with: "1m")
        }
    }

    @Test(.enabled(if: isInstalled))
    func `every expression of the board and the alert rules is evaluated, and names are text`() throws {
        let origin = try RecordingOrigin.guarded(by: BasicGuard())
        let rules = """
            store sqlite @/credentials.db
            parent p { http 127.0.0.1:9 }
            route behind.test { via p }
            challenge "lab" { host lab.test; method server-trust; allow self-signed; until 2031-01-01; trust }
            credential ci { user \(Account.user); password file @/password }
            challenge "\(Self.hostile)" { host 127.0.0.1; port \(origin.port); use ci }
            """
        let setting = AttacheProcess.Setting(files: ["password": Account.password])
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200, "\(proxy.errorOutput)")
            let prometheus = try PrometheusServer(reading: proxy.adminPort, rules: try printed("--alerts"))
            #expect(try Wait.until { try !prometheus.query("rate(attache_requests_total[1m])").isEmpty })
            let expressions = try expressions()
            #expect(expressions.count > 40)
            var empty: [String] = []
            for expression in expressions {
                #expect(throws: Never.self, "\(expression)") {
                    if try prometheus.query(expression).isEmpty { empty.append(expression) }
                }
            }
            // No server was trusted by a rule, and no parent was tried.
            let absent = ["attache_trust_exceptions_total", "attache_parent_up"]
            #expect(empty.allSatisfy { expression in absent.contains { expression.contains($0) } }, "\(empty)")
            let answers = try prometheus.query("attache_answers_total")
            #expect(
                answers.compactMap { $0["rule"] }.contains("<script>alert(1)</script> \" \u{FFFD}{{.}}"), "\(answers)")
            let isLooked = try Wait.until {
                let health = try prometheus.ruleHealth()
                return health.count >= 13 && health.values.allSatisfy { $0 == "ok" }
            }
            let health = try prometheus.ruleHealth()
            #expect(isLooked, "\(health)")
        }
    }
}
