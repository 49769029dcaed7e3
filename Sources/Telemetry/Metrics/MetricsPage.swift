import Bytes
import HTTP
import IO
import Model

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
            .requests,
            [
                ("none", .responsesNone), ("1xx", .responses1xx), ("2xx", .responses2xx), ("3xx", .responses3xx),
                ("4xx", .responses4xx), ("5xx", .responses5xx),
            ])
        page.append(
            histogram: .requestDurationSeconds,
            [([], DurationHistogram.Durations(sumOf: loops.map(\.requestDurations)))])
        page.append(
            histogram: .phaseDurationSeconds,
            Phase.allCases.map { phase in
                ([phase.token], DurationHistogram.Durations(sumOf: loops.map { $0.durations(of: phase) }))
            })
    }

    // MARK: - Challenges

    private mutating func appendAnswers() {
        let answers = loops.map(\.answersByScheme)
        page.append(
            .challengesAnswered,
            (answers.first ?? []).indices.map { place in
                (answers[0][place].scheme, answers.reduce(0) { $0 &+ $1[place].count })
            })
        let (known, others) = BoundedCounts.sum(loops.map(\.answerCounts))
        var samples = known.map { answer, count in
            let scheme = answer.scheme.map { "\($0.token)" } ?? "client-certificate"
            return ([answer.rule, answer.credential, scheme], "\(count)")
        }.sorted { left, right in left.0.lexicographicallyPrecedes(right.0) }
        if others > 0 { samples.append((["other", "other", "other"], "\(others)")) }
        page.append(.answers, samples)
        append(.credentialsRefused, .credentialsRefused)
        append(.credentialsParked, .credentialsParked)
        page.append(.parkedCredentials, figures.parkedCredentials)
        page.append(.credentials, figures.credentialStates.map { ($0.state, $0.count) })
        append(
            .credentialProbes,
            [("accepted", .probesAccepted), ("refused", .probesRefused), ("undecided", .probesUndecided)])
        page.append(.helperRuns, figures.helperRuns.map { ($0.result, $0.count) })
    }

    private mutating func appendUnanswered() {
        let schemes = AnsweredScheme.challenged + [nil]
        page.append(
            .challengesUnanswered,
            schemes.flatMap { scheme in
                UnansweredCause.allCases.map { cause in
                    let count = loops.reduce(0) { $0 &+ $1.unansweredCount(of: scheme, because: cause) }
                    return ([scheme.map { "\($0.token)" } ?? "other", cause.rawValue], "\(count)")
                }
            })
    }

    private mutating func appendQuestions() {
        let questions = figures.questions
        append(.questionsOpen, questions.open)
        page.append(.questions, questions.asked)
        page.append(
            .questionsAnswered,
            RunningFigures.Questions.Disposition.allCases.map { ($0.rawValue, questions.answered[$0] ?? 0) })
        page.append(
            .questionsUnanswered,
            RunningFigures.Questions.Silence.allCases.map { ($0.rawValue, questions.unanswered[$0] ?? 0) })
        page.append(.questionsRequestsRefused, questions.requestsRefused)
    }

    // MARK: - Connections

    private mutating func appendHandshakes() {
        append(.upstreamTLSHandshakes, [("no", .upstreamHandshakesFull), ("yes", .upstreamHandshakesResumed)])
        append(
            .clientTLSHandshakes,
            [
                ("full", .clientHandshakesFull), ("resumed", .clientHandshakesResumed),
                ("failed", .clientHandshakesFailed),
            ])
        let (known, others) = BoundedCounts.sum(loops.map(\.trustExceptionCounts))
        page.append(
            .trustExceptions,
            known.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } + (others > 0 ? [("other", others)] : []))
    }

    private mutating func appendUpstreams() {
        append(.upstreamConnectionsOpened, .upstreamOpened)
        append(.upstreamConnectionsReused, .upstreamReused)
        page.append(.upstreamConnectionsIdle, loops.reduce(0) { $0 &+ $1.idleConnections })
        append(.upstreamHTTP2Connections, .upstreamHTTP2Connections)
        append(.upstreamHTTP2Streams, .upstreamHTTP2Streams)
        append(.tunnels, .tunnelsOpened)
        append(.tunnelsIntercepted, .tunnelsIntercepted)
        append(open: .tunnelsOpen, .tunnelsOpened, .tunnelsClosed)
        append(.requestsMisdirected, .requestsMisdirected)
    }

    private mutating func appendParents() {
        func append(_ family: MetricFamily, _ number: (ParentState) -> Int) {
            page.append(family, figures.parents.map { (Self.labels($0.parent), "\(number($0))") })
        }
        page.append(
            .parentUp,
            figures.parents.filter(\.wasTried).map { (Self.labels($0.parent), $0.failingSince == nil ? "1" : "0") })
        page.append(
            .parentConnections,
            figures.parents.flatMap { state in
                [("active", state.connectionsInUse), ("idle", state.idle)].map { name, count in
                    (Self.labels(state.parent) + [name], "\(count)")
                }
            })
        append(.parentRequests, \.requests)
        append(.parentRefusals, \.refusals)
        append(.parentFailures, \.failures)
    }

    private static func labels(_ parent: ParentName) -> [String] { [parent.name, parent.address] }

    private mutating func appendClients() {
        append(.clients, .clientsAccepted)
        append(open: .clientsOpen, .clientsAccepted, .clientsClosed)
        append(.http2Connections, .http2Connections)
        append(.http2Streams, .http2Streams)
        append(.http2Resets, [("client", .http2ResetsReceived), ("proxy", .http2ResetsSent)])
        append(.http2Floods, .http2Floods)
        append(.clientsDisplaced, .clientsDisplaced)
        append(
            .clientsRefused,
            [
                ("address", .clientsRefusedByList), ("limit", .clientsRefusedAtLimit),
                ("address-limit", .clientsRefusedAtAddressLimit),
            ])
        append(.requestsLimited, [("rate", .requestsRefusedByRate), ("concurrent", .requestsRefusedAtOnce)])
        page.append(
            .clientLogins,
            LoginResult.allCases.flatMap { result in
                ClientLoginMethod.allCases.map { method in
                    let count = loops.reduce(0) { $0 &+ $1.loginCount(result, by: method) }
                    return ([result.rawValue, method.rawValue], "\(count)")
                }
            })
        append(.clientCredentialsRefused, .clientCredentialsRefused)
        append(.placeholdersMisplaced, .placeholdersMisplaced)
    }

    private mutating func appendBytes() {
        append(.receivedBytes, .bytesIn)
        append(.sentBytes, .bytesOut)
        page.append(.replayDiskBytes, figures.replayDisk.bytes)
        page.append(.replayDiskRefused, figures.replayDisk.refused)
        append(.spansSent, .spansSent)
        append(.spansDropped, .spansDropped)
        append(.logLinesDropped, .logLinesDropped)
        page.append(.reportLinesDropped, figures.reportLinesDropped)
    }

    private mutating func appendErrors() {
        page.append(
            .errors,
            ProxyError.allCases.map { error in (error.rawValue, loops.reduce(0) { $0 &+ $1.value(of: error) }) })
    }

    // MARK: - The program

    private mutating func appendRules() {
        if let store = figures.store {
            page.append(.storeUp, store.isUp ? 1 : 0)
            page.append(.storeFollowedTimestampSeconds, number: Double(store.followed.milliseconds) / 1000)
        }
        guard let reloads = figures.reloads else { return }
        page.append(.rulesLoadedTimestampSeconds, reloads.lastSuccess.seconds)
        page.append(.rulesReloadFailed, reloads.hasFailed ? 1 : 0)
        page.append(.rulesReloads, [("loaded", reloads.loaded), ("rejected", reloads.rejected)])
    }

    /// Appends the expiries, the soonest first. Of several with one name for one server only the soonest is shown.
    private mutating func appendExpiries() {
        var names: Set<[String]> = []
        let first = figures.expiries.sorted { $0.end < $1.end }.filter { expiry in
            names.insert([expiry.kind, expiry.name, expiry.place ?? ""]).inserted
        }
        page.append(
            .expiryTimestampSeconds,
            first.prefix(Self.expiries).map { expiry in
                ([expiry.kind, expiry.name, expiry.place ?? ""], "\(expiry.end.seconds)")
            })
    }

    /// The limit of expiries on the page.
    private static let expiries = 100

    private mutating func appendLoops() {
        page.append(histogram: .loopLagSeconds, [([], DurationHistogram.Durations(sumOf: figures.loopLag))])
        page.append(.buildInfo, [([figures.version], "1")])
    }

    /// Appends the figures of the process, with the names of Prometheus' client libraries.
    private mutating func appendProcess() {
        let process = figures.process
        page.append(.processorSeconds, number: process.processorSeconds)
        append(.processOpenFds, process.openDescriptors)
        append(.processMaxFds, process.descriptorLimit)
        append(.processVirtualMemoryBytes, process.virtualBytes)
        append(.processVirtualMemoryMaxBytes, process.virtualLimit)
        append(.processResidentMemoryBytes, process.residentBytes)
        page.append(.processStartTimeSeconds, number: process.startSeconds)
    }

    // MARK: - Counters of the loops

    private func sum(_ counter: Counter) -> Int { loops.reduce(0) { $0 &+ $1.value(of: counter) } }

    private mutating func append(_ family: MetricFamily, _ counter: Counter) { page.append(family, sum(counter)) }

    private mutating func append(_ family: MetricFamily, _ counters: [(String, Counter)]) {
        page.append(family, counters.map { ($0, sum($1)) })
    }

    private mutating func append(_ family: MetricFamily, _ gauge: Int?) { if let gauge { page.append(family, gauge) } }

    /// Appends the number of open items. The end of an item may be counted between the two reads, before its beginning
    /// was seen.
    private mutating func append(open family: MetricFamily, _ begun: Counter, _ ended: Counter) {
        page.append(family, max(sum(begun) &- sum(ended), 0))
    }
}
