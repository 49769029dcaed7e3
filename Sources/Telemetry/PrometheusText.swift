import HTTP

/// The sum over all loops in Prometheus' text format 0.0.4, `text/plain; version=0.0.4`.
public enum PrometheusText {
    ///
    /// - Parameters:
    ///   - storeIsUp: whether the credential store can be reached; nil where there is none.
    ///   - reportLinesDropped: lines for the operator that standard error did not take.
    public static func render(
        _ loops: [Metrics], replayDisk: ReplayDiskUse, storeIsUp: Bool? = nil, reportLinesDropped: Int = 0
    ) -> String {
        var text = ""
        let sum = { (counter: Counter) in loops.reduce(0) { $0 &+ $1.value(of: counter) } }

        family("attache_requests_total", "counter", "Exchanges by the class of the status sent.", in: &text)
        let classes: [(String, Counter)] = [
            ("none", .responsesNone), ("1xx", .responses1xx), ("2xx", .responses2xx), ("3xx", .responses3xx),
            ("4xx", .responses4xx), ("5xx", .responses5xx),
        ]
        for (label, counter) in classes {
            text += "attache_requests_total{code=\"\(label)\"} \(sum(counter))\n"
        }

        appendDurations(loops, to: &text)

        family(
            "attache_challenges_answered_total", "counter", "Exchanges in which a challenge was answered.", in: &text)
        text += "attache_challenges_answered_total{scheme=\"basic\"} \(sum(.answeredBasic))\n"
        text += "attache_challenges_answered_total{scheme=\"digest\"} \(sum(.answeredDigest))\n"
        text += "attache_challenges_answered_total{scheme=\"ntlm\"} \(sum(.answeredNTLM))\n"
        text += "attache_challenges_answered_total{scheme=\"negotiate\"} \(sum(.answeredNegotiate))\n"
        text += "attache_challenges_answered_total{scheme=\"bearer\"} \(sum(.answeredBearer))\n"
        text += "attache_challenges_answered_total{scheme=\"html-form\"} \(sum(.answeredForm))\n"
        text += "attache_challenges_answered_total{scheme=\"aws\"} \(sum(.signed))\n"
        text +=
            "attache_challenges_answered_total{scheme=\"client-certificate\"} \(sum(.answeredClientCertificate))\n"

        appendHandshakes(loops, to: &text)

        let single: [(String, String, Counter)] = [
            ("attache_credentials_refused_total", "Credentials sent and refused.", .credentialsRefused),
            ("attache_credentials_parked_total", "Challenges met by a parked credential.", .credentialsParked),
            ("attache_upstream_connections_opened_total", "Exchanges on a new connection.", .upstreamOpened),
            ("attache_upstream_connections_reused_total", "Exchanges on a kept connection.", .upstreamReused),
            ("attache_tunnels_total", "Tunnels opened and relayed unseen.", .tunnelsOpened),
            ("attache_tunnels_intercepted_total", "Tunnels looked into.", .tunnelsIntercepted),
            ("attache_clients_total", "Client connections accepted.", .clientsAccepted),
            (
                "attache_clients_displaced_total", "Idle client connections closed to make room for others.",
                .clientsDisplaced
            ),
            ("attache_received_bytes_total", "Body and tunnel bytes from clients.", .bytesIn),
            ("attache_sent_bytes_total", "Body and tunnel bytes to clients.", .bytesOut),
            (
                "attache_requests_misdirected_total",
                "Requests stopped before they went to another server than they were for.", .requestsMisdirected
            ),
            ("attache_log_lines_dropped_total", "Access log lines that found no room.", .logLinesDropped),
        ]
        for (name, help, counter) in single {
            family(name, "counter", help, in: &text)
            text += "\(name) \(sum(counter))\n"
        }

        family(
            "attache_report_lines_dropped_total", "counter", "Lines that standard error did not take.", in: &text)
        text += "attache_report_lines_dropped_total \(reportLinesDropped)\n"

        let refused = "attache_clients_refused_total"
        family(refused, "counter", "Client connections not served, by the reason.", in: &text)
        let reasons: [(String, Counter)] = [
            ("address", .clientsRefusedByList), ("limit", .clientsRefusedAtLimit),
            ("address-limit", .clientsRefusedAtAddressLimit),
        ]
        for (reason, counter) in reasons { text += "\(refused){reason=\"\(reason)\"} \(sum(counter))\n" }

        // The end may be counted between the two reads, before its beginning was seen.
        family("attache_tunnels_open", "gauge", "Tunnels open now.", in: &text)
        text += "attache_tunnels_open \(max(sum(.tunnelsOpened) &- sum(.tunnelsClosed), 0))\n"
        family("attache_clients_open", "gauge", "Client connections open now.", in: &text)
        text += "attache_clients_open \(max(sum(.clientsAccepted) &- sum(.clientsClosed), 0))\n"

        appendReplayDisk(replayDisk, to: &text)

        if let storeIsUp {
            family("attache_store_up", "gauge", "Whether the credential store can be reached.", in: &text)
            text += "attache_store_up \(storeIsUp ? 1 : 0)\n"
        }

        family("attache_errors_total", "counter", "Exchanges the proxy ended, by RFC 9209 error type.", in: &text)
        for error in ProxyError.allCases {
            let count = loops.reduce(0) { $0 &+ $1.value(of: error) }
            text += "attache_errors_total{type=\"\(error.rawValue)\"} \(count)\n"
        }
        return text
    }

    private static func appendReplayDisk(_ use: ReplayDiskUse, to text: inout String) {
        let (taken, refused) = ("attache_replay_disk_bytes", "attache_replay_disk_refused_total")
        family(taken, "gauge", "Bytes of replay-disk-total taken by bodies kept for sending again.", in: &text)
        text += "\(taken) \(use.bytes)\n"
        family(refused, "counter", "Bodies not kept because replay-disk-total was taken.", in: &text)
        text += "\(refused) \(use.refused)\n"
    }

    private static func appendHandshakes(_ loops: [Metrics], to text: inout String) {
        let handshakes = "attache_upstream_tls_handshakes_total"
        family(handshakes, "counter", "TLS handshakes with origins, by whether a session was resumed.", in: &text)
        for (label, counter) in [("no", Counter.upstreamHandshakesFull), ("yes", .upstreamHandshakesResumed)] {
            text += "\(handshakes){resumed=\"\(label)\"} \(loops.reduce(0) { $0 &+ $1.value(of: counter) })\n"
        }
        let clients = "attache_client_tls_handshakes_total"
        family(clients, "counter", "TLS handshakes with clients, at listeners and in tunnels.", in: &text)
        let outcomes: [(String, Counter)] = [
            ("full", .clientHandshakesFull), ("resumed", .clientHandshakesResumed), ("failed", .clientHandshakesFailed),
        ]
        for (label, counter) in outcomes {
            text += "\(clients){outcome=\"\(label)\"} \(loops.reduce(0) { $0 &+ $1.value(of: counter) })\n"
        }
        let exceptions = "attache_trust_exceptions_total"
        family(exceptions, "counter", "Connections whose certificate a rule forgave something.", in: &text)
        let counts = loops.reduce(into: [:]) { $0.merge($1.trustExceptionCounts, uniquingKeysWith: &+) }
        for (rule, count) in counts.sorted(by: { $0.key < $1.key }) {
            text += "\(exceptions){rule=\"\(escaped(rule))\"} \(count)\n"
        }
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

    /// The count is the sum of the buckets as read, so that the histogram agrees with itself.
    private static func appendDurations(_ loops: [Metrics], to text: inout String) {
        let name = "attache_request_duration_seconds"
        family(name, "histogram", "From the first byte of a request to the end of its exchange.", in: &text)
        var total = 0
        for bucket in 0..<DurationBuckets.count {
            total &+= loops.reduce(0) { $0 &+ $1.durationCount(in: bucket) }
            text += "\(name)_bucket{le=\"\(DurationBuckets.bound(of: bucket))\"} \(total)\n"
        }
        let milliseconds = loops.reduce(0) { $0 &+ $1.durationMilliseconds }
        text += "\(name)_sum \(DurationBuckets.seconds(max(milliseconds, 0)))\n\(name)_count \(total)\n"
    }

    private static func family(_ name: String, _ kind: String, _ help: String, in text: inout String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
    }
}

/// What the copies of bodies, which are kept for sending them again, have of `limits { replay-disk-total }`.
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
