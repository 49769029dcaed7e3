import HTTP

/// The sum over all loops in Prometheus' text format 0.0.4, `text/plain; version=0.0.4`.
public struct PrometheusText {
    private let loops: [Metrics]
    private var text = ""

    /// How the rule file was read.
    public struct Reloads: Sendable {
        /// When the rules at work were loaded, in milliseconds since 1970.
        let lastSuccess: Int
        /// Whether others behind them were not put to use.
        let hasFailed: Bool

        public init(lastSuccess: Int, hasFailed: Bool) {
            self.lastSuccess = lastSuccess
            self.hasFailed = hasFailed
        }
    }

    private init(_ loops: [Metrics]) { self.loops = loops }

    /// - Parameters:
    ///   - storeIsUp: whether the credential store can be reached; nil where there is none.
    ///   - reportLinesDropped: lines for the operator that standard error did not take.
    public static func render(
        _ loops: [Metrics], replayDisk: ReplayDiskUse, storeIsUp: Bool? = nil, reportLinesDropped: Int = 0,
        reload: Reloads? = nil
    ) -> String {
        var page = PrometheusText(loops)
        page.appendRequests()
        page.appendDurations()
        page.appendAnswers()
        page.appendHandshakes()
        page.appendSingleCounters()
        page.append("attache_report_lines_dropped_total", "Lines that standard error did not take.", reportLinesDropped)
        page.appendClientsRefused()
        page.appendOpenConnections()
        page.append(replayDisk)
        if let storeIsUp {
            page.append(gauge: "attache_store_up", "Whether the credential store can be reached.", storeIsUp ? 1 : 0)
        }
        if let reload {
            page.append(
                gauge: "attache_rules_loaded_timestamp_seconds", "When the rules at work were loaded, since 1970.",
                reload.lastSuccess / 1000)
            page.append(
                gauge: "attache_rules_reload_failed", "Whether a newer rule file was not put to use.",
                reload.hasFailed ? 1 : 0)
        }
        page.appendErrors()
        return page.text
    }

    private mutating func appendRequests() {
        append(
            "attache_requests_total", "Exchanges by the class of the status sent.", label: "code",
            [
                ("none", .responsesNone), ("1xx", .responses1xx), ("2xx", .responses2xx), ("3xx", .responses3xx),
                ("4xx", .responses4xx), ("5xx", .responses5xx),
            ])
    }

    /// The count is the sum of the buckets as read, so that the histogram agrees with itself.
    private mutating func appendDurations() {
        let name = "attache_request_duration_seconds"
        family(name, "histogram", "From the first byte of a request to the end of its exchange.")
        var total = 0
        for bucket in 0..<DurationBuckets.count {
            total &+= loops.reduce(0) { $0 &+ $1.durationCount(in: bucket) }
            text += "\(name)_bucket{le=\"\(DurationBuckets.bound(of: bucket))\"} \(total)\n"
        }
        let milliseconds = loops.reduce(0) { $0 &+ $1.durationMilliseconds }
        text += "\(name)_sum \(DurationBuckets.seconds(max(milliseconds, 0)))\n\(name)_count \(total)\n"
    }

    private mutating func appendAnswers() {
        append(
            "attache_challenges_answered_total", "Exchanges in which a challenge was answered.", label: "scheme",
            [
                ("basic", .answeredBasic), ("digest", .answeredDigest), ("ntlm", .answeredNTLM),
                ("negotiate", .answeredNegotiate), ("bearer", .answeredBearer), ("html-form", .answeredForm),
                ("aws", .signed), ("placed", .placed), ("client-certificate", .answeredClientCertificate),
            ])
        append(
            "attache_challenges_unanswered_total", "Challenges that clients got, or a refusal for them.",
            label: "scheme",
            [
                ("basic", .unansweredBasic), ("digest", .unansweredDigest), ("ntlm", .unansweredNTLM),
                ("negotiate", .unansweredNegotiate), ("bearer", .unansweredBearer), ("html-form", .unansweredForm),
                ("other", .unansweredOther),
            ])
    }

    private mutating func appendHandshakes() {
        append(
            "attache_upstream_tls_handshakes_total",
            "TLS handshakes with origins, by whether a session was resumed.", label: "resumed",
            [("no", .upstreamHandshakesFull), ("yes", .upstreamHandshakesResumed)])
        append(
            "attache_client_tls_handshakes_total", "TLS handshakes with clients, at listeners and in tunnels.",
            label: "outcome",
            [
                ("full", .clientHandshakesFull), ("resumed", .clientHandshakesResumed),
                ("failed", .clientHandshakesFailed),
            ])
        let exceptions = "attache_trust_exceptions_total"
        family(exceptions, "counter", "Connections to servers with a finding that a rule forgave.")
        let counts = loops.reduce(into: [:]) { $0.merge($1.trustExceptionCounts, uniquingKeysWith: &+) }
        for (rule, count) in counts.sorted(by: { $0.key < $1.key }) {
            text += "\(exceptions){rule=\"\(Self.escaped(rule))\"} \(count)\n"
        }
    }

    private mutating func appendSingleCounters() {
        append("attache_credentials_refused_total", "Credentials sent and refused.", .credentialsRefused)
        append("attache_credentials_parked_total", "Challenges met by a parked credential.", .credentialsParked)
        append("attache_upstream_connections_opened_total", "Exchanges on a new connection.", .upstreamOpened)
        append("attache_upstream_connections_reused_total", "Exchanges on a kept connection.", .upstreamReused)
        append("attache_tunnels_total", "Tunnels opened and relayed unseen.", .tunnelsOpened)
        append("attache_tunnels_intercepted_total", "Tunnels looked into.", .tunnelsIntercepted)
        append("attache_clients_total", "Client connections accepted.", .clientsAccepted)
        append(
            "attache_clients_displaced_total", "Idle client connections closed to make room for others.",
            .clientsDisplaced)
        append("attache_received_bytes_total", "Body and tunnel bytes from clients.", .bytesIn)
        append("attache_sent_bytes_total", "Body and tunnel bytes to clients.", .bytesOut)
        append(
            "attache_requests_misdirected_total",
            "Requests stopped before they went to another server than they were for.", .requestsMisdirected)
        append("attache_log_lines_dropped_total", "Access log lines that found no room.", .logLinesDropped)
    }

    private mutating func appendClientsRefused() {
        append(
            "attache_clients_refused_total", "Client connections not served, by the reason.", label: "reason",
            [
                ("address", .clientsRefusedByList), ("limit", .clientsRefusedAtLimit),
                ("address-limit", .clientsRefusedAtAddressLimit),
            ])
    }

    /// The end may be counted between the two reads, before its beginning was seen.
    private mutating func appendOpenConnections() {
        append(
            gauge: "attache_tunnels_open", "Tunnels open now.", max(sum(.tunnelsOpened) &- sum(.tunnelsClosed), 0))
        append(
            gauge: "attache_clients_open", "Client connections open now.",
            max(sum(.clientsAccepted) &- sum(.clientsClosed), 0))
    }

    private mutating func append(_ use: ReplayDiskUse) {
        append(
            gauge: "attache_replay_disk_bytes",
            "Bytes of replay-disk-total taken by bodies kept for sending again.", use.bytes)
        append(
            "attache_replay_disk_refused_total", "Bodies not kept because replay-disk-total was taken.", use.refused)
    }

    private mutating func appendErrors() {
        family("attache_errors_total", "counter", "Exchanges the proxy ended, by RFC 9209 error type.")
        for error in ProxyError.allCases {
            let count = loops.reduce(0) { $0 &+ $1.value(of: error) }
            text += "attache_errors_total{type=\"\(error.rawValue)\"} \(count)\n"
        }
    }

    private func sum(_ counter: Counter) -> Int { loops.reduce(0) { $0 &+ $1.value(of: counter) } }

    private mutating func append(_ name: String, _ help: String, _ counter: Counter) {
        append(name, help, sum(counter))
    }

    private mutating func append(_ name: String, _ help: String, _ count: Int) {
        family(name, "counter", help)
        text += "\(name) \(count)\n"
    }

    private mutating func append(gauge name: String, _ help: String, _ value: Int) {
        family(name, "gauge", help)
        text += "\(name) \(value)\n"
    }

    /// One counter for each value of a label.
    private mutating func append(_ name: String, _ help: String, label: String, _ counters: [(String, Counter)]) {
        family(name, "counter", help)
        for (value, counter) in counters { text += "\(name){\(label)=\"\(value)\"} \(sum(counter))\n" }
    }

    private mutating func family(_ name: String, _ kind: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
    }

    /// A label's value, as the format wants it.
    private static func escaped(_ value: String) -> String {
        value.reduce(into: "") { escaped, character in
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.append(character)
            }
        }
    }
}

/// The share of `limits { replay-disk-total }` that copies of bodies have, which are kept for sending them again.
public struct ReplayDiskUse: Sendable {
    /// Bytes that are taken, announced ones that have not come yet among them.
    public let bytes: Int
    /// Bodies, since the start, for which there was too little left.
    public let refused: Int

    public init(bytes: Int, refused: Int) {
        self.bytes = bytes
        self.refused = refused
    }
}
