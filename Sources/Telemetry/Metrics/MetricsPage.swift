import HTTP
import IO

/// All counters and measurements as one page: the sums over all loops, and the figures of the process.
public struct MetricsPage {
    private let loops: [Metrics]
    private let figures: RunningFigures
    private var page: MetricsText

    private init(_ loops: [Metrics], _ figures: RunningFigures, _ format: MetricsFormat) {
        self.loops = loops
        self.figures = figures
        page = MetricsText(format)
    }

    public static func render(_ loops: [Metrics], _ figures: RunningFigures, as format: MetricsFormat) -> String {
        var page = MetricsPage(loops, figures, format)
        page.appendRequests()
        page.appendAnswers()
        page.appendUnanswered()
        page.appendQuestions()
        page.appendHandshakes()
        page.appendUpstreams()
        page.appendParents()
        page.appendClients()
        page.appendBytes()
        page.appendErrors()
        page.appendRules()
        page.appendExpiries()
        page.appendLoops()
        page.appendProcess()
        page.page.end()
        return page.page.text
    }

    private mutating func appendRequests() {
        append(
            "attache_requests_total", "Exchanges by the class of the status sent.", label: "code",
            [
                ("none", .responsesNone), ("1xx", .responses1xx), ("2xx", .responses2xx), ("3xx", .responses3xx),
                ("4xx", .responses4xx), ("5xx", .responses5xx),
            ])
        page.append(
            histogram: "attache_request_duration_seconds",
            "From the first byte of a request to the end of its exchange.",
            [([], Durations(sumOf: loops.map(\.requestDurations)))])
        page.append(
            histogram: "attache_phase_duration_seconds",
            "Parts of that duration: the wait for room, the name, the connection, its handshake, challenges, the first byte.",
            Phase.allCases.map { phase in
                ([("phase", phase.token)], Durations(sumOf: loops.map { $0.durations(of: phase) }))
            })
    }

    // MARK: - Challenges

    private mutating func appendAnswers() {
        let answers = loops.map(\.answersByScheme)
        page.append(
            "attache_challenges_answered_total", .counter, "Exchanges in which a challenge was answered.",
            label: "scheme",
            (answers.first ?? []).indices.map { place in
                (answers[0][place].scheme, answers.reduce(0) { $0 &+ $1[place].count })
            })
        let (known, others) = BoundedCounts.sum(loops.map(\.answerCounts))
        var samples = known.map { answer, count in
            let scheme = answer.scheme.map { "\($0.token)" } ?? "client-certificate"
            return (Self.labels(answer.rule, answer.credential, scheme), "\(count)")
        }.sorted { left, right in left.0.map(\.value).lexicographicallyPrecedes(right.0.map(\.value)) }
        if others > 0 { samples.append((Self.labels("other", "other", "other"), "\(others)")) }
        page.append(
            "attache_answers_total", .counter, "Answers by the rule that decided, and the name of the credential.",
            samples)
        append("attache_credentials_refused_total", "Credentials sent and refused.", .credentialsRefused)
        append("attache_credentials_parked_total", "Challenges whose credential was on hold.", .credentialsParked)
        page.append(
            "attache_parked_credentials", .gauge, "Credentials that are not sent to some server after refusals.",
            figures.parkedCredentials)
        page.append(
            "attache_credentials", .gauge, "Credentials of the rule file, the store and clients, by their worst state.",
            label: "state", figures.credentialStates.map { ($0.state, $0.count) })
        append(
            "attache_credential_probes_total", "Requests by which the proxy asked whether a credential is still good.",
            label: "outcome",
            [("accepted", .probesAccepted), ("refused", .probesRefused), ("undecided", .probesUndecided)])
    }

    private static func labels(_ rule: String, _ credential: String, _ scheme: String) -> MetricsText.Labels {
        [("rule", rule), ("credential", credential), ("scheme", scheme)]
    }

    private mutating func appendUnanswered() {
        let schemes = AnsweredScheme.challenged + [nil]
        page.append(
            "attache_challenges_unanswered_total", .counter, "Challenges without an answer.",
            schemes.flatMap { scheme in
                UnansweredCause.allCases.map { cause in
                    let count = loops.reduce(0) { $0 &+ $1.unansweredCount(of: scheme, because: cause) }
                    return ([("scheme", scheme.map { "\($0.token)" } ?? "other"), ("reason", cause.token)], "\(count)")
                }
            })
    }

    private mutating func appendQuestions() {
        let questions = figures.questions
        append("attache_questions_open", "Challenges that wait for an operator now.", questions.open)
        page.append(
            "attache_questions_total", .counter, "Challenges that an operator was asked about.", questions.asked)
        page.append(
            "attache_questions_answered_total", .counter, "Questions that an operator answered.", label: "disposition",
            RunningFigures.Questions.Disposition.allCases.map { ($0.rawValue, questions.answered[$0] ?? 0) })
        page.append(
            "attache_questions_unanswered_total", .counter, "Questions that ended without an answer.", label: "reason",
            RunningFigures.Questions.Silence.allCases.map { ($0.rawValue, questions.unanswered[$0] ?? 0) })
        page.append(
            "attache_questions_requests_refused_total", .counter,
            "Requests refused because too many waited for the same answer.", questions.requestsRefused)
    }

    // MARK: - Connections

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
        let (known, others) = BoundedCounts.sum(loops.map(\.trustExceptionCounts))
        page.append(
            "attache_trust_exceptions_total", .counter,
            "Connections to servers with a certificate problem that a rule forgave.",
            label: "rule",
            known.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } + (others > 0 ? [("other", others)] : []))
    }

    private mutating func appendUpstreams() {
        append("attache_upstream_connections_opened_total", "Exchanges on a new connection.", .upstreamOpened)
        append("attache_upstream_connections_reused_total", "Exchanges on a kept connection.", .upstreamReused)
        page.append(
            "attache_upstream_connections_idle", .gauge, "Connections kept for a later request.",
            loops.reduce(0) { $0 &+ $1.idleConnections })
        append("attache_tunnels_total", "Tunnels opened and relayed unseen.", .tunnelsOpened)
        append("attache_tunnels_intercepted_total", "Tunnels intercepted.", .tunnelsIntercepted)
        append(open: "attache_tunnels_open", "Tunnels open now.", .tunnelsOpened, .tunnelsClosed)
        append(
            "attache_requests_misdirected_total",
            "Requests stopped before they went to the wrong server.", .requestsMisdirected)
    }

    private mutating func appendParents() {
        func append(
            _ name: String, _ kind: MetricsText.Kind, _ help: String, _ number: (ParentState) -> Int
        ) {
            page.append(name, kind, help, figures.parents.map { (Self.labels($0.parent), "\(number($0))") })
        }
        page.append(
            "attache_parent_up", .gauge,
            "Whether the last connection to a parent could be made; absent until one was tried.",
            figures.parents.filter(\.wasTried).map { (Self.labels($0.parent), $0.failingSince == nil ? "1" : "0") })
        page.append(
            "attache_parent_connections", .gauge, "Open connections to a parent, active and idle.",
            figures.parents.flatMap { state in
                [("used", state.connectionsInUse), ("resting", state.resting)].map { name, count in
                    (Self.labels(state.parent) + [("state", name)], "\(count)")
                }
            })
        append(
            "attache_parent_requests_total", .counter, "Exchanges that went to a parent or through it.", \.requests)
        append(
            "attache_parent_refusals_total", .counter,
            "Requests that a parent refused because of a missing login.", \.refusals)
        append(
            "attache_parent_failures_total", .counter, "Connections to a parent that could not be made.",
            \.failures)
    }

    private static func labels(_ parent: ParentName) -> MetricsText.Labels {
        [("parent", parent.name), ("address", parent.address)]
    }

    private mutating func appendClients() {
        append("attache_clients_total", "Client connections accepted.", .clientsAccepted)
        append(open: "attache_clients_open", "Client connections open now.", .clientsAccepted, .clientsClosed)
        append(
            "attache_clients_displaced_total", "Idle client connections closed to make room for others.",
            .clientsDisplaced)
        append(
            "attache_clients_refused_total", "Client connections not served, by the reason.", label: "reason",
            [
                ("address", .clientsRefusedByList), ("limit", .clientsRefusedAtLimit),
                ("address-limit", .clientsRefusedAtAddressLimit),
            ])
    }

    private mutating func appendBytes() {
        append("attache_received_bytes_total", "Body and tunnel bytes from clients.", .bytesIn)
        append("attache_sent_bytes_total", "Body and tunnel bytes to clients.", .bytesOut)
        page.append(
            "attache_replay_disk_bytes", .gauge,
            "Bytes of replay-disk-total taken by bodies kept for sending again.", figures.replayDisk.bytes)
        page.append(
            "attache_replay_disk_refused_total", .counter,
            "Bodies not kept because replay-disk-total was taken.", figures.replayDisk.refused)
        append("attache_spans_sent_total", "Spans of traces that the collector accepted.", .spansSent)
        append("attache_spans_dropped_total", "Spans of traces that were dropped.", .spansDropped)
        append("attache_log_lines_dropped_total", "Access log lines that were dropped.", .logLinesDropped)
        page.append(
            "attache_report_lines_dropped_total", .counter, "Lines for standard error that were dropped.",
            figures.reportLinesDropped)
    }

    private mutating func appendErrors() {
        page.append(
            "attache_errors_total", .counter, "Exchanges the proxy ended, by RFC 9209 error type.", label: "type",
            ProxyError.allCases.map { error in (error.rawValue, loops.reduce(0) { $0 &+ $1.value(of: error) }) })
    }

    // MARK: - The program

    private mutating func appendRules() {
        if let store = figures.store {
            page.append(
                "attache_store_up", .gauge, "Whether the credential store can be reached.", store.isUp ? 1 : 0)
            page.append(
                "attache_store_followed_timestamp_seconds", .gauge,
                "When all changes in the credential store were known here, since 1970.",
                number: Double(store.followed) / 1000)
        }
        guard let reloads = figures.reloads else { return }
        page.append(
            "attache_rules_loaded_timestamp_seconds", .gauge, "When the current rules were loaded, since 1970.",
            reloads.lastSuccess / 1000)
        page.append(
            "attache_rules_reload_failed", .gauge, "Whether a newer rule file was rejected.",
            reloads.hasFailed ? 1 : 0)
        page.append(
            "attache_rules_reloads_total", .counter, "How often the rule file was read again.", label: "outcome",
            [("loaded", reloads.loaded), ("rejected", reloads.rejected)])
    }

    /// Appends the expiries, the soonest first. Of several with one name for one server only the soonest is shown.
    private mutating func appendExpiries() {
        var names: Set<[String]> = []
        let first = figures.expiries.sorted { $0.seconds < $1.seconds }.filter { expiry in
            names.insert([expiry.kind, expiry.name, expiry.place]).inserted
        }
        page.append(
            "attache_expiry_timestamp_seconds", .gauge,
            "When certificates, tokens and trust exceptions expire, since 1970.",
            first.prefix(Self.expiries).map { expiry in
                ([("kind", expiry.kind), ("name", expiry.name), ("place", expiry.place)], "\(expiry.seconds)")
            })
    }

    /// The limit of expiries on the page.
    private static let expiries = 100

    private mutating func appendLoops() {
        page.append(
            histogram: "attache_loop_lag_seconds",
            "How long an event may have waited: from one wait for events to the next, in all loops.",
            [([], Durations(sumOf: figures.loopLag))])
        page.append(
            "attache_build_info", .info, "The version of the program.", [([("version", figures.version)], "1")])
    }

    /// Appends the figures of the process, with the names of Prometheus' client libraries.
    private mutating func appendProcess() {
        let process = figures.process
        page.append(
            "process_cpu_seconds_total", .counter, "Processor time used.", number: process.processorSeconds)
        append("process_open_fds", "Open file descriptors.", process.openDescriptors)
        append("process_max_fds", "Most file descriptors that may be open.", process.descriptorLimit)
        append("process_virtual_memory_bytes", "Virtual memory.", process.virtualBytes)
        append("process_virtual_memory_max_bytes", "Most virtual memory that may be used.", process.virtualLimit)
        append("process_resident_memory_bytes", "Resident memory.", process.residentBytes)
        page.append(
            "process_start_time_seconds", .gauge, "When the process was started, since 1970.",
            number: process.startSeconds)
    }

    // MARK: - Counters of the loops

    private func sum(_ counter: Counter) -> Int { loops.reduce(0) { $0 &+ $1.value(of: counter) } }

    private mutating func append(_ name: String, _ help: String, _ counter: Counter) {
        page.append(name, .counter, help, sum(counter))
    }

    private mutating func append(_ name: String, _ help: String, label: String, _ counters: [(String, Counter)]) {
        page.append(name, .counter, help, label: label, counters.map { ($0, sum($1)) })
    }

    private mutating func append(_ name: String, _ help: String, _ gauge: Int?) {
        if let gauge { page.append(name, .gauge, help, gauge) }
    }

    /// Appends the number of open items. The end of an item may be counted between the two reads, before its beginning
    /// was seen.
    private mutating func append(open name: String, _ help: String, _ begun: Counter, _ ended: Counter) {
        page.append(name, .gauge, help, max(sum(begun) &- sum(ended), 0))
    }
}
