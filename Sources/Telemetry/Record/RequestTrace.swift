import HTTP
import IO

/// The trace of one request: what was done for it, and how long that took, by the same instants that the metrics have.
///
/// Each message to a server is a leg, whose span has an id of its own: the server gets it in `traceparent`. Belongs to the
/// request's loop.
public final class RequestTrace {
    let trace: TraceContext.TraceID
    /// The span of whoever asks; nil: the trace begins here.
    let parent: TraceContext.SpanID?
    /// The span of the request.
    let id = TraceContext.SpanID.random()
    /// Whether other programs are told to record.
    let isSampled: Bool
    /// Whether anybody is told of the spans.
    public let isRecorded: Bool
    private let loop: EventLoop
    private(set) var spans: [TraceSpan] = []
    /// Spans that were too many.
    private(set) var spansDropped = 0
    /// The leg under way.
    private var leg: TraceSpan?
    /// When its response was there, where that is a challenge.
    private var legEnd: UInt64?
    /// Whether the leg has an answer of whose fate nothing is known yet.
    private var awaitsJudgement = false
    private var legs = 0
    /// Answers of the request that earlier legs have sent.
    private var attempts = 0
    /// The scheme of an answer that goes to a parent with the next leg.
    private var parentAnswer: AnsweredScheme?

    /// A request that is sent again and again has no endless trace.
    private static let spanLimit = 64

    /// - Parameters:
    ///   - parent: what the client said; nil: a new trace begins.
    ///   - samples: whether a new one is recorded.
    ///   - isCollected: whether there is a collector.
    public init(
        continuing parent: TraceContext?, samples: @autoclosure () -> Bool, isCollected: Bool, on loop: EventLoop
    ) {
        trace = parent?.trace ?? .random()
        self.parent = parent?.span
        isSampled = parent?.isSampled ?? samples()
        isRecorded = isSampled && isCollected
        self.loop = loop
    }

    // MARK: - Phases

    /// A phase of the request is over.
    ///
    /// - Parameters:
    ///   - server: its host.
    ///   - start: on the loop's clock, in nanoseconds.
    ///   - error: why it failed: a sentence.
    public func note(_ phase: Phase, of server: String, from start: UInt64, error: String? = nil) {
        guard isRecorded else { return }
        var span = TraceSpan(
            id: .random(), name: phase.token, kind: .internal, start: start, end: loop.nanoseconds, error: error)
        span.add("server.address", server)
        keep(span)
    }

    /// Work that the request waited for is over, such as a fetched token or an operator's answer.
    ///
    /// - Parameters:
    ///   - start: on the loop's clock, in nanoseconds.
    ///   - error: why it failed: a sentence.
    public func note(_ work: String, from start: UInt64, error: String? = nil) {
        guard isRecorded else { return }
        keep(TraceSpan(id: .random(), name: work, kind: .internal, start: start, end: loop.nanoseconds, error: error))
    }

    /// The handshake that was noted last, by the record of its connection.
    public func note(_ security: SecurityRecord, isResumed: Bool) {
        guard isRecorded, let last = spans.indices.last else { return }
        spans[last].add("tls.protocol.version", security.version.map { "\($0)" })
        spans[last].add("tls.resumed", isResumed)
        spans[last].add("attache.trust.findings", security.trustFindings)
        spans[last].add("attache.trust.rule", security.trustRule)
    }

    // MARK: - Legs

    /// A message goes out to a server.
    /// - Returns: its context, for `traceparent`.
    public func beginLeg(_ method: String, for record: ExchangeRecord) -> TraceContext {
        endLeg(status: nil)
        let id = TraceContext.SpanID.random()
        defer { (attempts, parentAnswer) = (record.attempts, nil) }
        let context = TraceContext(trace: trace, span: id, isSampled: isSampled)
        guard isRecorded else { return context }
        let now = loop.nanoseconds
        var leg = TraceSpan(id: id, name: method, kind: .client, start: now, end: now)
        if legs > 0 { leg.add("http.request.resend_count", legs) }
        leg.add("attache.parent", record.parent?.parent.label)
        awaitsJudgement = record.attempts > attempts
        if awaitsJudgement {
            leg.add("attache.answer.scheme", record.scheme.map { "\($0.token)" })
            leg.add("attache.answer.rule", record.rule)
            if record.ruleLine > 0 { leg.add("attache.answer.rule_line", record.ruleLine) }
        }
        leg.add("attache.answer.parent_scheme", parentAnswer.map { "\($0.token)" })
        legs += 1
        self.leg = leg
        return context
    }

    /// The next leg has an answer to a challenge of the parent's.
    public func answersParent(by scheme: AnsweredScheme?) { parentAnswer = scheme }

    /// The leg under way is over, if there is one.
    ///
    /// - Parameters:
    ///   - status: of the response; nil: there was none.
    ///   - error: why it failed: a sentence.
    public func endLeg(status: Int?, error: String? = nil) {
        guard var leg = leg.take() else { return }
        leg.end = legEnd.take() ?? loop.nanoseconds
        leg.add("http.response.status_code", status)
        leg.error = error
        keep(leg)
    }

    /// A challenge that the leg under way has met was decided about.
    public func note(_ decision: ChallengeDecision) {
        guard leg != nil else { return }
        leg?.add("attache.challenge.method", decision.method)
        leg?.add("attache.challenge.realm", decision.realm)
        leg?.add("attache.challenge.rule", decision.rule)
        leg?.add("attache.challenge.disposition", decision.disposition)
    }

    /// The response of the leg under way is a challenge.
    ///
    /// - Parameter result: what it says of the answer that the leg had; nil: it had none.
    public func meet(after result: AnswerResult?) {
        guard leg != nil else { return }
        legEnd = loop.nanoseconds
        result.map(note)
    }

    /// The answer of the leg under way was judged.
    public func note(_ result: AnswerResult) {
        guard awaitsJudgement || result != .unjudged else { return }
        awaitsJudgement = false
        leg?.add("attache.answer.result", result.rawValue)
    }

    private func keep(_ span: TraceSpan) {
        if spans.count < Self.spanLimit { spans.append(span) } else { spansDropped += 1 }
    }

    // MARK: - The end

    /// The request is over.
    ///
    /// - Returns: its own span.
    func end(_ record: ExchangeRecord) -> TraceSpan {
        let hasResponse = record.error == nil && record.status > 0
        // No challenge came back for an answer that was known.
        if hasResponse, awaitsJudgement { note(record.status < 500 ? .accepted : .unjudged) }
        endLeg(
            status: hasResponse ? record.status : nil,
            error: record.error == nil ? nil : record.details ?? record.error?.rawValue)
        let now = loop.nanoseconds
        var span = TraceSpan(
            id: id, name: record.methodName, kind: .server, start: now &- UInt64(clamping: record.duration), end: now)
        span.add("client.address", record.clientName)
        span.add("network.protocol.name", "http")
        span.add("network.protocol.version", record.minorVersion == 0 ? "1.0" : "1.1")
        if record.status > 0 { span.add("http.response.status_code", record.status) }
        span.add("attache.route", record.route)
        span.add("attache.parent", record.parent?.parent.label)
        span.add("attache.challenge.schemes", record.challenge?.schemes)
        if let error = record.error {
            span.add("error.type", error.rawValue)
            span.error = record.details ?? error.rawValue
        } else if record.status >= 500 {
            span.add("error.type", "\(record.status)")
            span.error = "the server answered \(record.status)"
        }
        return span
    }

    /// Instant 0 of the loop's clock, in nanoseconds since 1970.
    var epoch: Int { loop.epoch }
}

/// A decision about a challenge, in the words of the rule file. It holds no credential.
public struct ChallengeDecision {
    let method: String
    let realm: String?
    /// Its name and place.
    let rule: String?
    let disposition: String

    public init(method: String, realm: String?, rule: String?, disposition: String) {
        (self.method, self.realm, self.rule, self.disposition) = (method, realm, rule, disposition)
    }
}

/// What became of an answer to a challenge.
public enum AnswerResult: String, Sendable {
    case accepted
    case refused
    /// The server gives another nonce.
    case stale
    /// The next token of the login is due.
    case continues
    /// The server has not judged it.
    case unjudged
    /// The server did not prove that it knows the credential.
    case unproven
}

/// The parts of a request's time that are measured.
public enum Phase: Int, CaseIterable, Sendable {
    /// A client's wait for room, before its first request.
    case queue
    case nameLookup
    case connect
    case handshake
    /// From the first challenge of a request to the response behind the last answer.
    case challenge
    /// From the request sent to the first byte of the response.
    case firstByte

    /// As metrics and traces name it.
    var token: String {
        switch self {
        case .queue: "queue"
        case .nameLookup: "dns"
        case .connect: "connect"
        case .handshake: "tls"
        case .challenge: "challenge"
        case .firstByte: "first-byte"
        }
    }
}
