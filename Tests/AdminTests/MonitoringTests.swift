import Admin
import Bytes
import Foundation
import IO
import Telemetry
import TestSupport
import Testing

/// The board and the alert rules, held against the metrics that there are.
struct MonitoringTests {
    /// A page with every family.
    private static var page: ExpositionText {
        var figures = RunningFigures()
        figures.credentialStates = [("good", 1)]
        figures.process = .current
        figures.process.virtualLimit = 1
        figures.store = .init(isUp: true, followed: 0)
        figures.reloads = .init(lastSuccess: 0, hasFailed: false, loaded: 0, rejected: 0)
        figures.expiries = [.init(kind: "authority", name: "a", end: WallTime(seconds: 1))]
        figures.parents = [ParentState(ParentName("corp", kind: "http", at: "p:1"))]
        figures.parents[0].isUsed = true
        let metrics = Metrics()
        metrics.addIdentityAnswer(rule: "a", credential: "b")
        metrics.addTrustException(by: "a")
        return ExpositionText(MetricsPage.render([metrics], figures, as: .prometheus), isOpenMetrics: false)
    }

    private static func board() throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(Monitoring.grafanaBoard.utf8))
        return try #require(object as? [String: Any])
    }

    private static func panels() throws -> [[String: Any]] { try #require(try board()["panels"] as? [[String: Any]]) }

    private static func expressions() throws -> [String] {
        try panels().flatMap { $0["targets"] as? [[String: Any]] ?? [] }.map { try #require($0["expr"] as? String) }
    }

    private static func alerts() -> [String] {
        Monitoring.alertRules.matches(of: #/expr: '(.*)'/#).map { String($0.1).replacing("''", with: "'") }
    }

    /// The names of metrics in an expression, each with the labels that are matched behind it.
    private static func metrics(in expression: String) -> [(name: String, labels: [String])] {
        expression.matches(of: #/\b((?:attache|process)_[a-z_]+)(?:\{([^}]*)\})?/#).map { match in
            (String(match.1), (match.2 ?? "").matches(of: #/([a-z]+)(?:=|!=|=~|!~)"/#).map { String($0.1) })
        }
    }

    private static func labels(of name: String) -> Set<String> {
        let series = page.families.flatMap(\.samples).map(\.series).filter { $0.prefix { $0 != "{" } == name }
        return Set(series.flatMap { $0.matches(of: #/([a-z]+)="/#).map { String($0.1) } })
    }

    @Test func `board and alerts name metrics that there are, with labels that these have`() throws {
        let (names, expressions) = (Self.page.names, try Self.expressions() + Self.alerts())
        #expect(expressions.count > 40)
        for expression in expressions {
            let metrics = Self.metrics(in: expression)
            #expect(!metrics.isEmpty, "\(expression)")
            for metric in metrics {
                #expect(names.contains(metric.name), "\(metric.name) in \(expression)")
                let labels = Self.labels(of: metric.name).union(["instance"])
                #expect(labels.isSuperset(of: metric.labels), "\(expression)")
            }
            let known = Set(metrics.flatMap { Self.labels(of: $0.name) }).union(["instance"])
            for group in expression.matches(of: #/by \(([^)]*)\)/#) {
                let labels = group.1.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
                #expect(known.isSuperset(of: labels), "\(expression)")
            }
        }
    }

    @Test func `every metric stands on the board`() throws {
        let shown = try Self.expressions().flatMap { Self.metrics(in: $0).map(\.name) }
        let counted = Set(shown.map { $0.replacing("_bucket", with: "") })
        // An alert uses these alone, or they need no attention.
        let others = [
            "attache_http2_connections_total", "attache_http2_streams_total", "attache_http2_resets_total",
            "attache_http2_floods_total", "attache_upstream_http2_connections_total",
            "attache_upstream_http2_streams_total",
            "attache_client_credentials_refused_total", "attache_clients_total", "attache_helper_runs_total",
            "attache_placeholders_misplaced_total",
            "attache_requests_misdirected_total",
            "attache_store_up",
            "attache_rules_reloads_total",
            "attache_replay_disk_refused_total", "process_start_time_seconds", "process_virtual_memory_bytes",
            "process_virtual_memory_max_bytes",
        ]
        let missing = Self.page.families.map(\.name).filter { !counted.contains($0) }
        #expect(Set(missing) == Set(others))
    }

    @Test func `a legend names labels that its expression leaves`() throws {
        for target in try Self.panels().flatMap({ $0["targets"] as? [[String: Any]] ?? [] }) {
            let legend = try #require(target["legendFormat"] as? String)
            let expression = try #require(target["expr"] as? String)
            let groups = expression.matches(of: #/by \(([^)]*)\)/#).map(\.1).joined(separator: ",")
            for label in legend.matches(of: #/\{\{([a-z]+)\}\}/#) {
                #expect(groups.isEmpty ? label.1 == "instance" : groups.contains(label.1), "\(legend): \(expression)")
            }
        }
    }

    /// Grafana shows the values of labels as text in a time series. In a text panel they would be HTML or Markdown, and
    /// in a link an address.
    @Test func `no panel makes markup or a link of a label`() throws {
        let board = try Self.board()
        #expect(Set(try Self.panels().compactMap { $0["type"] as? String }) == ["row", "timeseries"])
        #expect(board["links"] == nil && board["annotations"] == nil)
        for panel in try Self.panels() {
            #expect(panel["links"] == nil && panel["transformations"] == nil, "\(panel)")
            let defaults = (panel["fieldConfig"] as? [String: Any])?["defaults"] as? [String: Any]
            #expect(defaults?["links"] == nil && defaults?["mappings"] == nil, "\(panel)")
        }
    }

    @Test func `panels have numbers of their own and cover none of the others`() throws {
        var (numbers, taken) = (Set<Int>(), Set<[Int]>())
        for panel in try Self.panels() {
            #expect(numbers.insert(try #require(panel["id"] as? Int)).inserted)
            let place = try #require(panel["gridPos"] as? [String: Int])
            for x in 0..<(place["w"] ?? 0) {
                for y in 0..<(place["h"] ?? 0) {
                    let cell = [x + (place["x"] ?? 0), y + (place["y"] ?? 0)]
                    #expect(cell[0] < 24 && taken.insert(cell).inserted, "\(panel)")
                }
            }
        }
    }
}
