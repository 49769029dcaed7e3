import Foundation
import TestSupport

/// A real Prometheus that reads the metrics of one proxy, by our alert rules.
final class PrometheusServer {
    /// The result of an expression: how many series, and the labels of each.
    typealias Series = [[String: String]]

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let port: UInt16
    private let child: Subprocess

    /// - Parameters:
    ///   - target: the port of the admin listener.
    ///   - rules: a file for `rule_files`.
    init(reading target: UInt16, rules: String) throws {
        let folder = Scratch.folder("prometheus")
        port = FreePort.take()
        try Scratch.write(rules, to: folder + "/rules.yml")
        try Scratch.write(
            """
            global: { scrape_interval: 200ms, evaluation_interval: 200ms }
            rule_files: [rules.yml]
            scrape_configs:
              - job_name: attache
                static_configs: [ { targets: ["127.0.0.1:\(target)"] } ]

            """, to: folder + "/prometheus.yml")
        child = try Subprocess(
            "prometheus",
            [
                "--config.file=\(folder)/prometheus.yml", "--storage.tsdb.path=\(folder)/data",
                "--web.listen-address=127.0.0.1:\(port)",
            ], directory: folder)
        try Socket.awaitListener(on: port, of: child)
        let ready = "http://127.0.0.1:\(port)/-/ready"
        guard try Wait.until({ try Curl.fetch(ready).status == 200 }) else {
            throw Failure(description: child.errorOutput)
        }
    }

    /// - Throws: what Prometheus says of an expression that it does not take.
    func query(_ expression: String) throws -> Series {
        let answer = try ask("query", ["--data-urlencode", "query=\(expression)"])
        let result = (answer["data"] as? [String: Any])?["result"] as? [[String: Any]] ?? []
        return result.map { $0["metric"] as? [String: String] ?? [:] }
    }

    /// The health of each alert rule by its name, as far as it was looked at.
    func ruleHealth() throws -> [String: String] {
        let groups = (try ask("rules", [])["data"] as? [String: Any])?["groups"] as? [[String: Any]] ?? []
        let rules = groups.flatMap { $0["rules"] as? [[String: Any]] ?? [] }
        let pairs = rules.map { ($0["name"] as? String ?? "", $0["health"] as? String ?? "") }
        return Dictionary(pairs) { first, _ in first }
    }

    private func ask(_ what: String, _ options: [String]) throws -> [String: Any] {
        let page = try Curl.fetch("http://127.0.0.1:\(port)/api/v1/\(what)", ["-G"] + options)
        let answer = try JSONSerialization.jsonObject(with: Data(page.text.utf8)) as? [String: Any] ?? [:]
        guard page.status == 200, answer["status"] as? String == "success" else {
            throw Failure(description: page.text)
        }
        return answer
    }
}
