import Admin
import Foundation
import Model
import Testing

/// The board and the alert rules, held against the metrics that there are.
struct MonitoringTests {
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

    /// The family of a sample with that name, and the names of the sample's labels.
    private static func family(of name: String) throws -> (family: MetricFamily, labels: Set<String>) {
        let buckets = name.hasSuffix("_bucket")
        let family = try #require(MetricFamily(rawValue: buckets ? String(name.dropLast(7)) : name), "\(name)")
        #expect(buckets == (family.traits.kind == .histogram), "\(name)")
        return (family, Set(family.traits.labels + (buckets ? ["instance", "le"] : ["instance"])))
    }

    @Test func `board and alerts name metrics that there are, with labels that these have`() throws {
        let expressions = try Self.expressions() + Self.alerts()
        #expect(expressions.count > 40)
        for expression in expressions {
            let metrics = Self.metrics(in: expression)
            #expect(!metrics.isEmpty, "\(expression)")
            var known: Set<String> = []
            for metric in metrics {
                let labels = try Self.family(of: metric.name).labels
                #expect(labels.isSuperset(of: metric.labels), "\(expression)")
                known.formUnion(labels)
            }
            for group in expression.matches(of: #/by \(([^)]*)\)/#) {
                let labels = group.1.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
                #expect(known.isSuperset(of: labels), "\(expression)")
            }
        }
    }

    /// A family that no panel needs says so in its row of `MetricFamily`.
    @Test func `the board shows the families that say so, and no others`() throws {
        let shown = try Self.expressions().flatMap { Self.metrics(in: $0) }.map { try Self.family(of: $0.name).family }
        #expect(Set(shown) == Set(MetricFamily.allCases.filter(\.traits.isOnBoard)))
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
