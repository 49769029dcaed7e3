/// A family of metrics, by the name of its samples. `MetricsPage` and `attache help json` use the same cases.
public enum MetricFamily: String, CaseIterable, Sendable {
    case requests = "attache_requests_total"
    case requestDurationSeconds = "attache_request_duration_seconds"
    case phaseDurationSeconds = "attache_phase_duration_seconds"
    case challengesAnswered = "attache_challenges_answered_total"
    case answers = "attache_answers_total"
    case credentialsRefused = "attache_credentials_refused_total"
    case credentialsParked = "attache_credentials_parked_total"
    case parkedCredentials = "attache_parked_credentials"
    case credentials = "attache_credentials"
    case credentialProbes = "attache_credential_probes_total"
    case helperRuns = "attache_helper_runs_total"
    case challengesUnanswered = "attache_challenges_unanswered_total"
    case questionsOpen = "attache_questions_open"
    case questions = "attache_questions_total"
    case questionsAnswered = "attache_questions_answered_total"
    case questionsUnanswered = "attache_questions_unanswered_total"
    case questionsRequestsRefused = "attache_questions_requests_refused_total"
    case upstreamTLSHandshakes = "attache_upstream_tls_handshakes_total"
    case clientTLSHandshakes = "attache_client_tls_handshakes_total"
    case trustExceptions = "attache_trust_exceptions_total"
    case upstreamConnectionsOpened = "attache_upstream_connections_opened_total"
    case upstreamConnectionsReused = "attache_upstream_connections_reused_total"
    case upstreamConnectionsIdle = "attache_upstream_connections_idle"
    case upstreamHTTP2Connections = "attache_upstream_http2_connections_total"
    case upstreamHTTP2Streams = "attache_upstream_http2_streams_total"
    case tunnels = "attache_tunnels_total"
    case tunnelsIntercepted = "attache_tunnels_intercepted_total"
    case tunnelsOpen = "attache_tunnels_open"
    case requestsMisdirected = "attache_requests_misdirected_total"
    case parentUp = "attache_parent_up"
    case parentConnections = "attache_parent_connections"
    case parentRequests = "attache_parent_requests_total"
    case parentRefusals = "attache_parent_refusals_total"
    case parentFailures = "attache_parent_failures_total"
    case clients = "attache_clients_total"
    case clientsOpen = "attache_clients_open"
    case http2Connections = "attache_http2_connections_total"
    case http2Streams = "attache_http2_streams_total"
    case http2Resets = "attache_http2_resets_total"
    case http2Floods = "attache_http2_floods_total"
    case clientsDisplaced = "attache_clients_displaced_total"
    case clientsRefused = "attache_clients_refused_total"
    case requestsLimited = "attache_requests_limited_total"
    case clientLogins = "attache_client_logins_total"
    case clientCredentialsRefused = "attache_client_credentials_refused_total"
    case placeholdersMisplaced = "attache_placeholders_misplaced_total"
    case receivedBytes = "attache_received_bytes_total"
    case sentBytes = "attache_sent_bytes_total"
    case replayDiskBytes = "attache_replay_disk_bytes"
    case replayDiskRefused = "attache_replay_disk_refused_total"
    case spansSent = "attache_spans_sent_total"
    case spansDropped = "attache_spans_dropped_total"
    case logLinesDropped = "attache_log_lines_dropped_total"
    case reportLinesDropped = "attache_report_lines_dropped_total"
    case errors = "attache_errors_total"
    case storeUp = "attache_store_up"
    case storeFollowedTimestampSeconds = "attache_store_followed_timestamp_seconds"
    case rulesLoadedTimestampSeconds = "attache_rules_loaded_timestamp_seconds"
    case rulesReloadFailed = "attache_rules_reload_failed"
    case rulesReloads = "attache_rules_reloads_total"
    case expiryTimestampSeconds = "attache_expiry_timestamp_seconds"
    case loopLagSeconds = "attache_loop_lag_seconds"
    case buildInfo = "attache_build_info"
    case processorSeconds = "process_cpu_seconds_total"
    case processOpenFds = "process_open_fds"
    case processMaxFds = "process_max_fds"
    case processVirtualMemoryBytes = "process_virtual_memory_bytes"
    case processVirtualMemoryMaxBytes = "process_virtual_memory_max_bytes"
    case processResidentMemoryBytes = "process_resident_memory_bytes"
    case processStartTimeSeconds = "process_start_time_seconds"

    public enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
        /// The value is always 1; the labels contain the information.
        case info
    }

    public struct Manual: Sendable {
        public let kind: MetricFamily.Kind
        /// The meaning, a sentence.
        public let help: String
        /// The names of the labels, in the order of the samples.
        public let labels: [String]

        fileprivate init(_ kind: MetricFamily.Kind, _ help: String, by labels: String...) {
            self.kind = kind
            self.help = help
            self.labels = labels
        }
    }

    /// The meaning of the family. `MetricsPage` writes each family, so its tests see that none is missing here.
    public var manual: MetricFamily.Manual { Self.manuals[self] ?? Manual(.gauge, "") }

    private static let manuals: [MetricFamily: MetricFamily.Manual] = [
        .requests: Manual(.counter, "Exchanges by the class of the status sent.", by: "code"),
        .requestDurationSeconds: Manual(.histogram, "From the first byte of a request to the end of its exchange."),
        .phaseDurationSeconds: Manual(
            .histogram,
            "Parts of that duration: the wait for room, the name, the connection, its handshake, challenges, the first byte.",
            by: "phase"),
        .challengesAnswered: Manual(.counter, "Exchanges in which a challenge was answered.", by: "scheme"),
        .answers: Manual(
            .counter, "Answers by the rule that decided, and the name of the credential.", by: "rule", "credential",
            "scheme"),
        .credentialsRefused: Manual(.counter, "Credentials sent and refused."),
        .credentialsParked: Manual(.counter, "Challenges whose credential was on hold."),
        .parkedCredentials: Manual(.gauge, "Credentials that are not sent to some server after refusals."),
        .credentials: Manual(
            .gauge, "Credentials of the rule file, the store and clients, by their worst state.", by: "state"),
        .credentialProbes: Manual(
            .counter, "Requests by which the proxy asked whether a credential is still good.", by: "outcome"),
        .challengesUnanswered: Manual(.counter, "Challenges without an answer.", by: "scheme", "reason"),
        .questionsOpen: Manual(.gauge, "Challenges that wait for an operator now."),
        .questions: Manual(.counter, "Challenges that an operator was asked about."),
        .questionsAnswered: Manual(.counter, "Questions that an operator answered.", by: "disposition"),
        .questionsUnanswered: Manual(.counter, "Questions that ended without an answer.", by: "reason"),
        .questionsRequestsRefused: Manual(.counter, "Requests refused because too many waited for the same answer."),
        .upstreamTLSHandshakes: Manual(
            .counter, "TLS handshakes with origins, by whether a session was resumed.", by: "resumed"),
        .clientTLSHandshakes: Manual(
            .counter, "TLS handshakes with clients, at listeners and in tunnels.", by: "outcome"),
        .trustExceptions: Manual(
            .counter, "Connections to servers with a certificate problem that a rule forgave.", by: "rule"),
        .upstreamConnectionsOpened: Manual(.counter, "Exchanges on a new connection."),
        .upstreamConnectionsReused: Manual(.counter, "Exchanges on a kept connection."),
        .upstreamConnectionsIdle: Manual(.gauge, "Connections kept for a later request."),
        .tunnels: Manual(.counter, "Tunnels opened and relayed unseen."),
        .tunnelsIntercepted: Manual(.counter, "Tunnels intercepted."),
        .tunnelsOpen: Manual(.gauge, "Tunnels open now."),
        .requestsMisdirected: Manual(.counter, "Requests stopped before they went to the wrong server."),
        .parentUp: Manual(
            .gauge, "Whether the last connection to a parent could be made; absent until one was tried.",
            by: "parent", "address"),
        .parentConnections: Manual(
            .gauge, "Open connections to a parent, active and idle.", by: "parent", "address", "state"),
        .parentRequests: Manual(.counter, "Exchanges that went to a parent or through it.", by: "parent", "address"),
        .parentRefusals: Manual(
            .counter, "Requests that a parent refused because of a missing login.", by: "parent", "address"),
        .parentFailures: Manual(
            .counter, "Connections to a parent that could not be made.", by: "parent", "address"),
        .helperRuns: Manual(
            .counter,
            "Runs of programs that give secrets ('helper', 'run'), by the result: success, failure or timeout.",
            by: "result"),
        .upstreamHTTP2Connections: Manual(.counter, "Connections with servers that speak HTTP/2."),
        .upstreamHTTP2Streams: Manual(.counter, "Requests that were sent as streams of such connections."),
        .clients: Manual(.counter, "Client connections accepted."),
        .clientsOpen: Manual(.gauge, "Client connections open now."),
        .http2Connections: Manual(.counter, "Client connections that speak HTTP/2."),
        .http2Streams: Manual(.counter, "Streams that clients opened on HTTP/2 connections."),
        .http2Resets: Manual(.counter, "Streams of HTTP/2 that were reset, by the side: client or proxy.", by: "side"),
        .http2Floods: Manual(
            .counter,
            "HTTP/2 connections closed because the client exceeded a limit of frames or violated the protocol."),
        .clientsDisplaced: Manual(.counter, "Idle client connections closed to make room for others."),
        .clientsRefused: Manual(.counter, "Client connections not served, by the reason.", by: "reason"),
        .requestsLimited: Manual(
            .counter,
            "Requests that got a 429 because of a limit for one client: requests-per-client (rate) or concurrent-requests-per-client (concurrent).",
            by: "reason"),
        .clientLogins: Manual(
            .counter, "Logins of clients that were checked, by the result: accepted or refused.", by: "result",
            "method"),
        .clientCredentialsRefused: Manual(
            .counter, "Requests refused because the client brought a credential of its own ('authorization refuse')."),
        .placeholdersMisplaced: Manual(
            .counter, "Requests refused because a credential's placeholder is where it is not replaced."),
        .receivedBytes: Manual(.counter, "Body and tunnel bytes from clients."),
        .sentBytes: Manual(.counter, "Body and tunnel bytes to clients."),
        .replayDiskBytes: Manual(.gauge, "Bytes of replay-disk-total taken by bodies kept for sending again."),
        .replayDiskRefused: Manual(.counter, "Bodies not kept because replay-disk-total was taken."),
        .spansSent: Manual(.counter, "Spans of traces that the collector accepted."),
        .spansDropped: Manual(.counter, "Spans of traces that were dropped."),
        .logLinesDropped: Manual(.counter, "Access log lines that were dropped."),
        .reportLinesDropped: Manual(.counter, "Lines for standard error that were dropped."),
        .errors: Manual(.counter, "Exchanges the proxy ended, by RFC 9209 error type.", by: "type"),
        .storeUp: Manual(.gauge, "Whether the credential store can be reached."),
        .storeFollowedTimestampSeconds: Manual(
            .gauge, "When all changes in the credential store were known here, since 1970."),
        .rulesLoadedTimestampSeconds: Manual(.gauge, "When the current rules were loaded, since 1970."),
        .rulesReloadFailed: Manual(.gauge, "Whether a newer rule file was rejected."),
        .rulesReloads: Manual(.counter, "How often the rule file was read again.", by: "outcome"),
        .expiryTimestampSeconds: Manual(
            .gauge, "When certificates, tokens and trust exceptions expire, since 1970.", by: "kind", "name",
            "place"),
        .loopLagSeconds: Manual(
            .histogram, "How long an event may have waited: from one wait for events to the next, in all loops."),
        .buildInfo: Manual(.info, "The version of the program.", by: "version"),
        .processorSeconds: Manual(.counter, "Processor time used."),
        .processOpenFds: Manual(.gauge, "Open file descriptors."),
        .processMaxFds: Manual(.gauge, "Most file descriptors that may be open."),
        .processVirtualMemoryBytes: Manual(.gauge, "Virtual memory."),
        .processVirtualMemoryMaxBytes: Manual(.gauge, "Most virtual memory that may be used."),
        .processResidentMemoryBytes: Manual(.gauge, "Resident memory."),
        .processStartTimeSeconds: Manual(.gauge, "When the process was started, since 1970."),
    ]
}
