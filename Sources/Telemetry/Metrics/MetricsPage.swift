import Bytes
import HTTP
import IO
import Model

/// All metrics as one page: the sums of the counters of all loops, and the figures that no loop counts.
public struct MetricsPage {
    /// A number with the values of the family's labels.
    typealias Sample = (labels: [String], number: String)
    typealias Histogram = (labels: [String], durations: DurationHistogram.Durations)

    private var samples: [MetricFamily: [Sample]] = [:]
    private var histograms: [MetricFamily: [Histogram]] = [:]

    /// Begins a page with the counters of the loops.
    public init(_ loops: [Metrics]) {
        for counter in Metrics.Counter.allCases {
            guard let (family, label) = counter.sample else { continue }
            samples[family, default: []].append((label.map { [$0] } ?? [], "\(Self.sum(counter, loops))"))
        }
        setOpen(.tunnelsOpen, .tunnelsOpened, .tunnelsClosed, loops)
        setOpen(.clientsOpen, .clientsAccepted, .clientsClosed, loops)
        setDurations(loops)
        setAnswers(loops)
        setUnanswered(loops)
        setTrustExceptions(loops)
        setLogins(loops)
        set(.upstreamConnectionsIdle, loops.reduce(0) { $0 &+ $1.idleConnections })
        set(
            .errors,
            ProxyError.allCases.map { error in (error.rawValue, loops.reduce(0) { $0 &+ $1.value(of: error) }) })
    }

    /// The page as text; families without figures are omitted.
    public func text(as format: MetricsPage.Format) -> String {
        var text = Text(format)
        for family in MetricFamily.allCases {
            if let samples = samples[family] { text.append(family, samples) }
            if let histograms = histograms[family] { text.append(histogram: family, histograms) }
        }
        text.end()
        return text.text
    }

    // MARK: - Figures

    /// - Parameter value: the value; nil: the family is omitted.
    public mutating func set(_ family: MetricFamily, _ value: (some Numeric)?) {
        samples[family] = value.map { [([], "\($0)")] }
    }

    /// Sets one sample for each value of a label.
    public mutating func set(_ family: MetricFamily, _ samples: [(label: String, count: Int)]) {
        self.samples[family] = samples.map { ([$0.label], "\($0.count)") }
    }

    /// Sets the lag of each loop.
    public mutating func set(loopLag: [DurationHistogram.Durations]) {
        histograms[.loopLagSeconds] = [([], DurationHistogram.Durations(sumOf: loopLag))]
    }

    /// - Parameter version: the program's version, as `attache version` prints it.
    public mutating func set(version: String) { samples[.buildInfo] = [([version], "1")] }

    public mutating func set(_ replayDisk: ReplayDiskUse) {
        set(.replayDiskBytes, replayDisk.bytes)
        set(.replayDiskRefused, replayDisk.refused)
    }

    /// Sets the figures of the process, with the names of Prometheus' client libraries.
    public mutating func set(_ process: ProcessFigures) {
        set(.processorSeconds, process.processorSeconds)
        set(.processOpenFds, process.openDescriptors)
        set(.processMaxFds, process.descriptorLimit)
        set(.processVirtualMemoryBytes, process.virtualBytes)
        set(.processVirtualMemoryMaxBytes, process.virtualLimit)
        set(.processResidentMemoryBytes, process.residentBytes)
        set(.processStartTimeSeconds, process.startSeconds)
    }

    public mutating func set(_ questions: Questions) {
        set(.questionsOpen, questions.open)
        set(.questions, questions.asked)
        set(
            .questionsAnswered,
            Questions.Disposition.allCases.map { ($0.rawValue, questions.answered[$0] ?? 0) })
        set(
            .questionsUnanswered, Questions.Silence.allCases.map { ($0.rawValue, questions.unanswered[$0] ?? 0) })
        set(.questionsRequestsRefused, questions.requestsRefused)
    }

    public mutating func set(_ parents: [ParentState]) {
        func set(_ family: MetricFamily, _ number: (ParentState) -> Int) {
            samples[family] = parents.map { (Self.labels($0.parent), "\(number($0))") }
        }
        samples[.parentUp] = parents.filter(\.isUsed).map {
            (Self.labels($0.parent), $0.failingSince == nil ? "1" : "0")
        }
        samples[.parentConnections] = parents.flatMap { state in
            [("active", state.connectionsInUse), ("idle", state.idle)].map { name, count in
                (Self.labels(state.parent) + [name], "\(count)")
            }
        }
        set(.parentRequests, \.requests)
        set(.parentRefusals, \.refusals)
        set(.parentFailures, \.failures)
    }

    private static func labels(_ parent: ParentName) -> [String] { [parent.name, parent.address] }

    /// Sets the expiries, the soonest first. Of several with one name for one server only the soonest is shown.
    public mutating func set(_ expiries: [Expiry]) {
        var names: Set<[String]> = []
        let first = expiries.sorted { $0.end < $1.end }.filter { expiry in
            names.insert([expiry.kind, expiry.name, expiry.place ?? ""]).inserted
        }
        samples[.expiryTimestampSeconds] = first.prefix(Self.expiries).map { expiry in
            ([expiry.kind, expiry.name, expiry.place ?? ""], "\(expiry.end.seconds)")
        }
    }

    /// The limit of expiries on the page.
    private static let expiries = 100

    // MARK: - Counters of the loops

    private static func sum(_ counter: Metrics.Counter, _ loops: [Metrics]) -> Int {
        loops.reduce(0) { $0 &+ $1.value(of: counter) }
    }

    /// Sets the number of open items. The end of an item may be counted between the two reads, before its beginning
    /// was seen.
    private mutating func setOpen(
        _ family: MetricFamily, _ begun: Metrics.Counter, _ ended: Metrics.Counter, _ loops: [Metrics]
    ) {
        set(family, max(Self.sum(begun, loops) &- Self.sum(ended, loops), 0))
    }

    private mutating func setDurations(_ loops: [Metrics]) {
        histograms[.requestDurationSeconds] = [([], DurationHistogram.Durations(sumOf: loops.map(\.requestDurations)))]
        histograms[.phaseDurationSeconds] = Phase.allCases.map { phase in
            ([phase.rawValue], DurationHistogram.Durations(sumOf: loops.map { $0.durations(of: phase) }))
        }
    }

    private mutating func setAnswers(_ loops: [Metrics]) {
        let answers = loops.map(\.answersByScheme)
        set(
            .challengesAnswered,
            (answers.first ?? []).indices.map { place in
                (answers[0][place].scheme, answers.reduce(0) { $0 &+ $1[place].count })
            })
        let (known, others) = BoundedCounts.sum(loops.map(\.answerCounts))
        var samples: [Sample] = known.map { answer, count in
            let scheme = answer.scheme.map { "\($0.token)" } ?? "client-certificate"
            return ([answer.rule, answer.credential, scheme], "\(count)")
        }.sorted { left, right in left.labels.lexicographicallyPrecedes(right.labels) }
        if others > 0 { samples.append((["other", "other", "other"], "\(others)")) }
        self.samples[.answers] = samples
    }

    private mutating func setUnanswered(_ loops: [Metrics]) {
        let schemes = AnsweredScheme.challenged + [nil]
        samples[.challengesUnanswered] = schemes.flatMap { scheme in
            UnansweredCause.allCases.map { cause in
                let count = loops.reduce(0) { $0 &+ $1.unansweredCount(of: scheme, because: cause) }
                return ([scheme.map { "\($0.token)" } ?? "other", cause.rawValue], "\(count)")
            }
        }
    }

    private mutating func setTrustExceptions(_ loops: [Metrics]) {
        let (known, others) = BoundedCounts.sum(loops.map(\.trustExceptionCounts))
        set(
            .trustExceptions,
            known.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } + (others > 0 ? [("other", others)] : []))
    }

    private mutating func setLogins(_ loops: [Metrics]) {
        samples[.clientLogins] = Metrics.LoginResult.allCases.flatMap { result in
            Metrics.LoginMethod.allCases.map { method in
                let count = loops.reduce(0) { $0 &+ $1.loginCount(result, by: method) }
                return ([result.rawValue, method.rawValue], "\(count)")
            }
        }
    }

    /// The challenges of rules with `ask`, since the start.
    public struct Questions: Sendable {
        /// The dispositions by operators, in the words of `attache ask answer`.
        public enum Disposition: String, CaseIterable, Sendable {
            case use
            case user
            case trust
            case reject
            case cancel
        }

        /// The reason why a question ended without an answer.
        public enum Silence: String, CaseIterable, Sendable {
            case timeout
            /// Later questions replaced it.
            case displaced
            /// The clients that waited for it have left.
            case abandoned
        }

        public var open = 0
        public var asked = 0
        public var answered: [Disposition: Int] = [:]
        public var unanswered: [Silence: Int] = [:]
        /// Requests refused because too many waited for the same answer.
        public var requestsRefused = 0

        public init() {}
    }
}

/// The use of `limits { replay-disk-total }` by copies of bodies, which are kept to be sent again: the reserved bytes,
/// including announced ones that have not arrived yet, and the bodies, since the start, for which too little was left.
public typealias ReplayDiskUse = (bytes: Int, refused: Int)
