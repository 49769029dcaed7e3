/// A family of metrics, by the name of its samples. The page of metrics and `attache help json` have the families in this
/// order.
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

    public struct Traits: Sendable {
        public let kind: MetricFamily.Kind
        /// The meaning, a sentence.
        public let help: String
        /// The names of the labels, in the order of the samples.
        public let labels: [String]
        /// Whether a panel of Grafana's board shows the family. The others need no attention, or only an alert uses them.
        public let isOnBoard: Bool

        fileprivate init(_ kind: MetricFamily.Kind, _ help: String, by labels: String..., isOnBoard: Bool = true) {
            self.kind = kind
            self.help = help
            self.labels = labels
            self.isOnBoard = isOnBoard
        }
    }

    /// The row of the family. A test of the page sees that none is missing.
    public var traits: MetricFamily.Traits { Self.rows[self] ?? Traits(.gauge, "") }

    private static let rows: [MetricFamily: MetricFamily.Traits] = [
        .requests: Traits(.counter, "Exchanges by the class of the status sent.", by: "code"),
        .requestDurationSeconds: Traits(.histogram, "From the first byte of a request to the end of its exchange."),
        .phaseDurationSeconds: Traits(
            .histogram,
            "Parts of that duration: the wait for room, the name, the connection, its handshake, challenges, the first byte.",
            by: "phase"),
        .challengesAnswered: Traits(.counter, "Exchanges in which a challenge was answered.", by: "scheme"),
        .answers: Traits(
            .counter, "Answers by the rule that decided, and the name of the credential.", by: "rule", "credential",
            "scheme"),
        .credentialsRefused: Traits(.counter, "Credentials sent and refused."),
        .credentialsParked: Traits(.counter, "Challenges whose credential was on hold."),
        .parkedCredentials: Traits(.gauge, "Credentials that are not sent to some server after refusals."),
        .credentials: Traits(
            .gauge, "Credentials of the rule file, the store and clients, by their worst state.", by: "state"),
        .credentialProbes: Traits(
            .counter, "Requests by which the proxy asked whether a credential is still good.", by: "outcome"),
        .helperRuns: Traits(
            .counter,
            "Runs of programs that give secrets ('helper', 'run'), by the result: success, failure or timeout.",
            by: "result", isOnBoard: false),
        .challengesUnanswered: Traits(.counter, "Challenges without an answer.", by: "scheme", "reason"),
        .questionsOpen: Traits(.gauge, "Challenges that wait for an operator now."),
        .questions: Traits(.counter, "Challenges that an operator was asked about."),
        .questionsAnswered: Traits(.counter, "Questions that an operator answered.", by: "disposition"),
        .questionsUnanswered: Traits(.counter, "Questions that ended without an answer.", by: "reason"),
        .questionsRequestsRefused: Traits(.counter, "Requests refused because too many waited for the same answer."),
        .upstreamTLSHandshakes: Traits(
            .counter, "TLS handshakes with origins, by whether a session was resumed.", by: "resumed"),
        .clientTLSHandshakes: Traits(
            .counter, "TLS handshakes with clients, at listeners and in tunnels.", by: "outcome"),
        .trustExceptions: Traits(
            .counter, "Connections to servers with a certificate problem that a rule forgave.", by: "rule"),
        .upstreamConnectionsOpened: Traits(.counter, "Exchanges on a new connection."),
        .upstreamConnectionsReused: Traits(.counter, "Exchanges on a kept connection."),
        .upstreamConnectionsIdle: Traits(.gauge, "Connections kept for a later request."),
        .upstreamHTTP2Connections: Traits(.counter, "Connections with servers that speak HTTP/2.", isOnBoard: false),
        .upstreamHTTP2Streams: Traits(
            .counter, "Requests that were sent as streams of such connections.", isOnBoard: false),
        .tunnels: Traits(.counter, "Tunnels opened and relayed unseen."),
        .tunnelsIntercepted: Traits(.counter, "Tunnels intercepted."),
        .tunnelsOpen: Traits(.gauge, "Tunnels open now."),
        .requestsMisdirected: Traits(
            .counter, "Requests stopped before they went to the wrong server.", isOnBoard: false),
        .parentUp: Traits(
            .gauge, "Whether the last connection to a parent could be made; absent until one was tried.", by: "parent",
            "address"),
        .parentConnections: Traits(
            .gauge, "Open connections to a parent, active and idle.", by: "parent", "address", "state"),
        .parentRequests: Traits(.counter, "Exchanges that went to a parent or through it.", by: "parent", "address"),
        .parentRefusals: Traits(
            .counter, "Requests that a parent refused because of a missing login.", by: "parent", "address"),
        .parentFailures: Traits(.counter, "Connections to a parent that could not be made.", by: "parent", "address"),
        .clients: Traits(.counter, "Client connections accepted.", isOnBoard: false),
        .clientsOpen: Traits(.gauge, "Client connections open now."),
        .http2Connections: Traits(.counter, "Client connections that speak HTTP/2.", isOnBoard: false),
        .http2Streams: Traits(.counter, "Streams that clients opened on HTTP/2 connections.", isOnBoard: false),
        .http2Resets: Traits(
            .counter, "Streams of HTTP/2 that were reset, by the side: client or proxy.", by: "side", isOnBoard: false),
        .http2Floods: Traits(
            .counter,
            "HTTP/2 connections closed because the client exceeded a limit of frames or violated the protocol.",
            isOnBoard: false),
        .clientsDisplaced: Traits(.counter, "Idle client connections closed to make room for others."),
        .clientsRefused: Traits(.counter, "Client connections not served, by the reason.", by: "reason"),
        .requestsLimited: Traits(
            .counter,
            "Requests that got a 429 because of a limit for one client: requests-per-client (rate) or concurrent-requests-per-client (concurrent).",
            by: "reason"),
        .clientLogins: Traits(
            .counter, "Logins of clients that were checked, by the result: accepted or refused.", by: "result", "method"
        ),
        .clientCredentialsRefused: Traits(
            .counter, "Requests refused because the client brought a credential of its own ('authorization refuse').",
            isOnBoard: false),
        .placeholdersMisplaced: Traits(
            .counter, "Requests refused because a credential's placeholder is where it is not replaced.",
            isOnBoard: false),
        .receivedBytes: Traits(.counter, "Body and tunnel bytes from clients."),
        .sentBytes: Traits(.counter, "Body and tunnel bytes to clients."),
        .replayDiskBytes: Traits(.gauge, "Bytes of replay-disk-total taken by bodies kept for sending again."),
        .replayDiskRefused: Traits(.counter, "Bodies not kept because replay-disk-total was taken.", isOnBoard: false),
        .spansSent: Traits(.counter, "Spans of traces that the collector accepted."),
        .spansDropped: Traits(.counter, "Spans of traces that were dropped."),
        .logLinesDropped: Traits(.counter, "Access log lines that were dropped."),
        .reportLinesDropped: Traits(.counter, "Lines for standard error that were dropped."),
        .errors: Traits(.counter, "Exchanges the proxy ended, by RFC 9209 error type.", by: "type"),
        .storeUp: Traits(.gauge, "Whether the credential store can be reached.", isOnBoard: false),
        .storeFollowedTimestampSeconds: Traits(
            .gauge, "When all changes in the credential store were known here, since 1970."),
        .rulesLoadedTimestampSeconds: Traits(.gauge, "When the current rules were loaded, since 1970."),
        .rulesReloadFailed: Traits(.gauge, "Whether a newer rule file was rejected."),
        .rulesReloads: Traits(.counter, "How often the rule file was read again.", by: "outcome", isOnBoard: false),
        .expiryTimestampSeconds: Traits(
            .gauge, "When certificates, tokens and trust exceptions expire, since 1970.", by: "kind", "name", "place"),
        .loopLagSeconds: Traits(
            .histogram, "How long an event may have waited: from one wait for events to the next, in all loops."),
        .buildInfo: Traits(.info, "The version of the program.", by: "version"),
        .processorSeconds: Traits(.counter, "Processor time used."),
        .processOpenFds: Traits(.gauge, "Open file descriptors."),
        .processMaxFds: Traits(.gauge, "Most file descriptors that may be open."),
        .processVirtualMemoryBytes: Traits(.gauge, "Virtual memory.", isOnBoard: false),
        .processVirtualMemoryMaxBytes: Traits(.gauge, "Most virtual memory that may be used.", isOnBoard: false),
        .processResidentMemoryBytes: Traits(.gauge, "Resident memory."),
        .processStartTimeSeconds: Traits(.gauge, "When the process was started, since 1970.", isOnBoard: false),
    ]
}
