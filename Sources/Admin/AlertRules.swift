/// Alerts on the metrics, as a rule file for Prometheus.
public enum AlertRules {
    private struct Alert {
        let name: String
        let expression: String
        /// The time for which the condition must hold.
        let time: String
        var severity = "warning"
        /// A sentence for the person on call; may contain labels.
        let summary: String
    }

    private static let alerts = [
        Alert(
            name: "AttacheChallengesUnanswered",
            expression: "sum by (instance, scheme, reason) "
                + "(increase(attache_challenges_unanswered_total{reason!~\"no-rule|own-authorization\"}[15m])) > 0",
            time: "15m",
            summary: "challenges ({{ $labels.scheme }}) are not answered: {{ $labels.reason }}; "
                + "run 'attache challenges --unanswered' for the reason and the lines to paste"),
        Alert(
            name: "AttacheQuestionsUnanswered",
            expression: "sum by (instance, reason) "
                + "(increase(attache_questions_unanswered_total{reason!=\"abandoned\"}[15m])) > 0",
            time: "0m",
            summary: "an operator was asked about challenges and did not answer ({{ $labels.reason }}); "
                + "run 'attache ask' to see the open ones"),
        Alert(
            name: "AttacheCredentialParked", expression: "attache_parked_credentials > 0", time: "5m",
            summary:
                "{{ $value }} credentials were refused and are on hold; run 'attache credential list' to see where, until when, and "
                + "what to do"),
        Alert(
            name: "AttacheExpiry",
            expression:
                "min by (instance, kind, name, place) (attache_expiry_timestamp_seconds{kind!~\"((stored|fetched) )?token|Kerberos ticket\"}) - time() < 14 * 86400",
            time: "1h",
            summary: "{{ $labels.kind }} {{ $labels.name }} {{ $labels.place }} ends in {{ $value | humanizeDuration }}"
        ),
        Alert(
            name: "AttacheExpiryNear",
            expression:
                "min by (instance, kind, name, place) (attache_expiry_timestamp_seconds{kind!~\"((stored|fetched) )?token|Kerberos ticket\"}) - time() < 2 * 86400",
            time: "5m", severity: "critical",
            summary: "{{ $labels.kind }} {{ $labels.name }} {{ $labels.place }} ends in {{ $value | humanizeDuration }}"
        ),
        Alert(
            name: "AttacheTicketOver",
            expression:
                "min by (instance, name) (attache_expiry_timestamp_seconds{kind=\"Kerberos ticket\"}) < time()",
            time: "5m",
            summary: "the Kerberos tickets of credential {{ $labels.name }} have expired, and there are no new ones yet"
        ),
        Alert(
            name: "AttacheRulesRejected", expression: "attache_rules_reload_failed == 1", time: "5m",
            summary:
                "a newer rule file was rejected, and the proxy uses the old one; run 'attache status' to see why"),
        Alert(
            name: "AttacheStoreDown", expression: "attache_store_up == 0", time: "2m",
            summary: "the credential store cannot be reached; the proxy uses the credentials that it knows"),
        Alert(
            name: "AttacheStoreLag", expression: "time() - attache_store_followed_timestamp_seconds > 60", time: "5m",
            summary: "changes in the credential store have not been seen for {{ $value | humanizeDuration }}"),
        Alert(
            name: "AttacheParentDown", expression: "attache_parent_up == 0", time: "5m",
            summary: "connections to the parent {{ $labels.parent }} ({{ $labels.address }}) fail; "
                + "run 'attache status' to see why"),
        Alert(
            name: "AttacheErrors",
            expression: "sum by (instance) (rate(attache_requests_total{code=\"5xx\"}[5m])) "
                + "/ sum by (instance) (rate(attache_requests_total[5m])) > 0.05",
            time: "10m",
            summary: "{{ $value | humanizePercentage }} of the responses are errors of a server or the proxy"),
        Alert(
            name: "AttacheLoopLag",
            expression: "histogram_quantile(0.99, "
                + "sum by (instance, le) (rate(attache_loop_lag_seconds_bucket[5m]))) > 0.25",
            time: "10m",
            summary: "events wait up to {{ $value | humanizeDuration }}: the proxy has too little processor time"),
        Alert(
            name: "AttacheClientsRefused",
            expression: "sum by (instance) (increase(attache_clients_refused_total{reason!=\"address\"}[5m])) > 0",
            time: "0m", summary: "clients are refused, because a limit of the rule file or of the system is reached"),
        Alert(
            name: "AttacheDescriptors",
            expression: "process_open_fds / process_max_fds > 0.8 and on (instance) attache_build_info", time: "10m",
            summary: "{{ $value | humanizePercentage }} of the descriptors are in use (ulimit -n)"),
        Alert(
            name: "AttacheLinesDropped",
            expression:
                "increase(attache_log_lines_dropped_total[5m]) + increase(attache_report_lines_dropped_total[5m]) > 0",
            time: "0m", summary: "log lines are lost, because the log's destination fails or is too slow"),
        Alert(
            name: "AttacheSpansDropped", expression: "increase(attache_spans_dropped_total[15m]) > 0", time: "0m",
            summary: "spans are lost, because the collector fails or is too slow"),
        Alert(
            name: "AttacheMisdirected", expression: "increase(attache_requests_misdirected_total[1h]) > 0", time: "0m",
            severity: "critical",
            summary:
                "the proxy stopped a request that would have gone to the wrong server: this is a bug, please report it"
        ),
    ]

    /// Quotes a text in YAML's single quotes. Only these need escaping here.
    private static func quoted(_ text: String) -> String {
        "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''"))'"
    }

    public static var yaml: String {
        var text = """
            # Alerts on Attaché's metrics: name this file in Prometheus' 'rule_files'.
            groups:
              - name: attache
                rules:

            """
        for alert in alerts {
            text += """
                      - alert: \(alert.name)
                        expr: \(quoted(alert.expression))
                        for: \(alert.time)
                        labels:
                          severity: \(alert.severity)
                        annotations:
                          summary: \(quoted("{{ $labels.instance }}: \(alert.summary)"))

                """
        }
        return text
    }
}
