/// A Grafana board of the metrics, as JSON to import. It asks for the data source, and for one instance or several.
public enum GrafanaBoard {
    private struct Query {
        let expression: String
        let legend: String

        init(_ expression: String, _ legend: String) {
            self.expression = expression
            self.legend = legend
        }
    }

    private struct Panel {
        let title: String
        /// The unit by Grafana's name.
        let unit: String
        let queries: [Query]

        init(_ title: String, _ unit: String, _ queries: [Query]) {
            self.title = title
            self.unit = unit
            self.queries = queries
        }
    }

    private struct Row {
        let title: String
        let panels: [Panel]
    }

    // MARK: - The expressions

    private static let instance = "instance=~\"$instance\""

    private static func value(_ name: String, by labels: String = "instance") -> String {
        "sum by (\(labels)) (\(name){\(instance)})"
    }

    private static func rate(_ name: String, by labels: String) -> String {
        "sum by (\(labels)) (rate(\(name){\(instance)}[$__rate_interval]))"
    }

    private static func quantile(_ share: String, _ histogram: String, by labels: String = "") -> String {
        "histogram_quantile(\(share), \(rate("\(histogram)_bucket", by: labels.isEmpty ? "le" : "le, \(labels)")))"
    }

    private static func quantiles(of histogram: String) -> [Query] {
        [("0.5", "median"), ("0.95", "95 %"), ("0.99", "99 %")].map { Query(quantile($0, histogram), $1) }
    }

    // MARK: - The panels

    private static let rows = [
        Row(title: "Requests", panels: requests), Row(title: "Challenges", panels: challenges),
        Row(title: "Connections", panels: connections), Row(title: "The program", panels: program),
    ]

    private static let requests = [
        Panel("Requests by status", "reqps", [Query(rate("attache_requests_total", by: "code"), "{{code}}")]),
        Panel("Latency of a request", "s", quantiles(of: "attache_request_duration_seconds")),
        Panel(
            "Phases, 95 %", "s",
            [Query(quantile("0.95", "attache_phase_duration_seconds", by: "phase"), "{{phase}}")]),
        Panel("Errors of the proxy", "reqps", [Query(rate("attache_errors_total", by: "type"), "{{type}}")]),
        Panel(
            "Bytes", "Bps",
            [
                Query(rate("attache_received_bytes_total", by: "instance"), "from clients, {{instance}}"),
                Query(rate("attache_sent_bytes_total", by: "instance"), "to clients, {{instance}}"),
            ]),
    ]

    private static let challenges = [
        Panel("Answered", "reqps", [Query(rate("attache_challenges_answered_total", by: "scheme"), "{{scheme}}")]),
        Panel(
            "Answers by rule and credential", "reqps",
            [Query(rate("attache_answers_total", by: "rule, credential"), "{{rule}}: {{credential}}")]),
        Panel(
            "Not answered", "reqps",
            [Query(rate("attache_challenges_unanswered_total", by: "scheme, reason"), "{{scheme}}: {{reason}}")]),
        Panel(
            "Credentials refused and on hold", "short",
            [
                Query(rate("attache_credentials_refused_total", by: "instance"), "refused per second, {{instance}}"),
                Query(rate("attache_credentials_parked_total", by: "instance"), "held back per second, {{instance}}"),
                Query(value("attache_parked_credentials"), "on hold now, {{instance}}"),
                Query(rate("attache_credential_probes_total", by: "outcome"), "probes per second: {{outcome}}"),
            ]),
        Panel("Credentials by state", "short", [Query(value("attache_credentials", by: "state"), "{{state}}")]),
        Panel(
            "Questions to operators", "short",
            [
                Query(value("attache_questions_open"), "open now, {{instance}}"),
                Query(rate("attache_questions_total", by: "instance"), "asked per second, {{instance}}"),
                Query(
                    rate("attache_questions_answered_total", by: "disposition"), "answered per second: {{disposition}}"),
                Query(rate("attache_questions_unanswered_total", by: "reason"), "not answered per second: {{reason}}"),
                Query(
                    rate("attache_questions_requests_refused_total", by: "instance"),
                    "requests that could not wait per second, {{instance}}"),
            ]),
        Panel(
            "Trust exceptions", "reqps", [Query(rate("attache_trust_exceptions_total", by: "rule"), "{{rule}}")]),
        Panel(
            "Days until expiry", "d",
            [
                Query(
                    "(min by (kind, name, place) (attache_expiry_timestamp_seconds{\(instance)}) - time()) / 86400",
                    "{{kind}} {{name}} {{place}}")
            ]),
    ]

    private static let connections = [
        Panel(
            "Open now", "short",
            [
                Query(value("attache_clients_open"), "clients, {{instance}}"),
                Query(value("attache_tunnels_open"), "tunnels, {{instance}}"),
                Query(value("attache_upstream_connections_idle"), "kept, {{instance}}"),
            ]),
        Panel(
            "Clients not served", "cps",
            [
                Query(rate("attache_clients_refused_total", by: "reason"), "{{reason}}"),
                Query(rate("attache_clients_displaced_total", by: "instance"), "displaced, {{instance}}"),
            ]),
        Panel(
            "Connections to servers", "cps",
            [
                Query(rate("attache_upstream_connections_opened_total", by: "instance"), "opened, {{instance}}"),
                Query(rate("attache_upstream_connections_reused_total", by: "instance"), "reused, {{instance}}"),
            ]),
        Panel(
            "TLS handshakes", "cps",
            [
                Query(
                    rate("attache_upstream_tls_handshakes_total", by: "resumed"), "with servers, resumed: {{resumed}}"),
                Query(rate("attache_client_tls_handshakes_total", by: "outcome"), "with clients: {{outcome}}"),
            ]),
        Panel(
            "Parents up", "short",
            [
                Query(
                    "min by (parent, address) (attache_parent_up{\(instance)})", "{{parent}} {{address}}")
            ]),
        Panel(
            "Requests of parents", "reqps",
            [
                Query(rate("attache_parent_requests_total", by: "parent, address"), "{{parent}} {{address}}"),
                Query(rate("attache_parent_refusals_total", by: "parent, address"), "refused, {{parent}} {{address}}"),
            ]),
        Panel(
            "Connections to parents", "short",
            [
                Query(
                    value("attache_parent_connections", by: "parent, address, state"),
                    "{{state}}, {{parent}} {{address}}"),
                Query(
                    rate("attache_parent_failures_total", by: "parent, address"),
                    "failed per second, {{parent}} {{address}}"),
            ]),
        Panel(
            "Tunnels", "cps",
            [
                Query(rate("attache_tunnels_total", by: "instance"), "unseen, {{instance}}"),
                Query(rate("attache_tunnels_intercepted_total", by: "instance"), "looked into, {{instance}}"),
            ]),
    ]

    private static let program = [
        Panel("Lag of the loops", "s", quantiles(of: "attache_loop_lag_seconds")),
        Panel("Processors in use", "short", [Query(rate("process_cpu_seconds_total", by: "instance"), "{{instance}}")]),
        Panel("Resident memory", "bytes", [Query(value("process_resident_memory_bytes"), "{{instance}}")]),
        Panel(
            "Descriptors in use", "percentunit",
            [Query("process_open_fds{\(instance)} / process_max_fds{\(instance)}", "{{instance}}")]),
        Panel("Bodies on disk", "bytes", [Query(value("attache_replay_disk_bytes"), "{{instance}}")]),
        Panel(
            "Lag of the store", "s",
            [Query("time() - attache_store_followed_timestamp_seconds{\(instance)}", "{{instance}}")]),
        Panel(
            "Rules", "s",
            [
                Query("time() - attache_rules_loaded_timestamp_seconds{\(instance)}", "age, {{instance}}"),
                Query(value("attache_rules_reload_failed"), "a newer file was rejected, {{instance}}"),
            ]),
        Panel(
            "Lines dropped", "cps",
            [
                Query(rate("attache_log_lines_dropped_total", by: "instance"), "access log, {{instance}}"),
                Query(rate("attache_report_lines_dropped_total", by: "instance"), "standard error, {{instance}}"),
            ]),
        Panel(
            "Trace spans", "cps",
            [
                Query(rate("attache_spans_sent_total", by: "instance"), "sent, {{instance}}"),
                Query(rate("attache_spans_dropped_total", by: "instance"), "dropped, {{instance}}"),
            ]),
        Panel("Versions", "short", [Query(value("attache_build_info", by: "version"), "{{version}}")]),
    ]

    // MARK: - JSON

    /// The panels in a row. Grafana has 24 columns.
    private static let perRow = 3
    private static let (width, height) = (24 / perRow, 8)

    /// The board in the form that Grafana 8 and later import.
    public static var json: String {
        var json = JSONText()
        json.object { json in
            json.member("title", "Attaché")
            json.member("uid", "attache")
            json.member("tags", ["attache"])
            json.member("editable", true)
            json.member("graphTooltip", 1)
            json.member("schemaVersion", 36)
            json.member("refresh", "30s")
            json.object("time", time)
            json.object("templating", { $0.array("list", variables) })
            json.array("panels", panels)
        }
        return json.text + "\n"
    }

    private static func variables(_ json: inout JSONText) {
        json.object { json in
            json.member("name", "datasource")
            json.member("label", "data source")
            json.member("type", "datasource")
            json.member("query", "prometheus")
        }
        json.object { json in
            json.member("name", "instance")
            json.member("type", "query")
            json.member("query", "label_values(attache_build_info, instance)")
            json.object("datasource", source)
            json.member("refresh", 2)
            json.member("multi", true)
            json.member("includeAll", true)
            json.member("allValue", ".*")
            json.object("current", all)
        }
    }

    private static func time(_ json: inout JSONText) {
        json.member("from", "now-6h")
        json.member("to", "now")
    }

    private static func all(_ json: inout JSONText) {
        json.member("text", "All")
        json.member("value", "$__all")
    }

    private static func source(_ json: inout JSONText) {
        json.member("type", "prometheus")
        json.member("uid", "${datasource}")
    }

    private static func panels(_ json: inout JSONText) {
        var (number, top) = (1, 0)
        for row in rows {
            json.object { json in
                json.member("id", number)
                json.member("type", "row")
                json.member("title", row.title)
                json.object("gridPos", position(0, top, 24, 1))
            }
            number += 1
            top += 1
            for (place, panel) in row.panels.enumerated() {
                let position = position(place % perRow * width, top + place / perRow * height, width, height)
                json.object { write(panel, number, position, &$0) }
                number += 1
            }
            top += (row.panels.count + perRow - 1) / perRow * height
        }
    }

    private static func position(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> (inout JSONText) -> Void {
        { json in
            json.member("x", x)
            json.member("y", y)
            json.member("w", width)
            json.member("h", height)
        }
    }

    private static func write(
        _ panel: Panel, _ number: Int, _ position: (inout JSONText) -> Void, _ json: inout JSONText
    ) {
        json.member("id", number)
        json.member("type", "timeseries")
        json.member("title", panel.title)
        json.object("gridPos", position)
        json.object("datasource", source)
        json.object("fieldConfig", { $0.object("defaults", { $0.member("unit", panel.unit) }) })
        json.array("targets", targets(of: panel))
    }

    private static func targets(of panel: Panel) -> (inout JSONText) -> Void {
        { json in
            for (place, query) in panel.queries.enumerated() {
                json.object { json in
                    json.member("refId", "Q\(place + 1)")
                    json.object("datasource", source)
                    json.member("expr", query.expression)
                    json.member("legendFormat", query.legend)
                }
            }
        }
    }
}
