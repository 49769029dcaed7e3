import HTTP
import IO
import Model

/// The trace of one request: its operations with their durations, at the times that the metrics use.
///
/// Each message to a server is a leg, whose span has an id of its own, which the server gets in `traceparent`. Belongs
/// to the request's loop.
public final class RequestTrace {
    let trace: TraceContext.TraceID
    /// The span of the client; nil: the trace begins here.
    let parent: TraceContext.SpanID?
    /// The span of the request.
    let id = TraceContext.SpanID.random()
    /// Whether other programs should record the trace.
    let isSampled: Bool
    /// Whether the spans are exported.
    public let isRecorded: Bool
    private let loop: EventLoop
    private(set) var spans: [TraceSpan] = []
    /// The number of spans beyond the limit.
    private(set) var spansDropped = 0
    /// The current leg.
    private var leg: TraceSpan?
    /// The time at which its response arrived, if that is a challenge.
    private var legEnd: LoopInstant?
    /// Whether the leg has an answer that was not judged yet.
    private var awaitsJudgement = false
    private var legs = 0
    /// The number of answers in earlier legs of the request.
    private var attempts = 0
    /// The scheme of an answer to a parent in the next leg.
    private var parentAnswer: AnsweredScheme?

    /// The limit of spans, for a request that is sent again and again.
    private static let spanLimit = 64

    /// - Parameters:
    ///   - parent: the client's context; nil: a new trace begins.
    ///   - samples: whether to record a new trace.
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

    /// Notes a phase of the request that has ended.
    ///
    /// - Parameters:
    ///   - server: the host of the server.
    ///   - error: the reason of a failure: a sentence.
    public func note(_ phase: Phase, of server: String, from start: LoopInstant, error: String? = nil) {
        guard isRecorded else { return }
        var span = TraceSpan(
            id: .random(), name: phase.rawValue, kind: .internal, start: start, end: loop.now, error: error)
        span.add("server.address", server)
        keep(span)
    }

    /// Notes work that the request waited for, such as fetching a token or an operator's answer.
    ///
    /// - Parameter error: the reason of a failure: a sentence.
    public func note(_ work: String, from start: LoopInstant, error: String? = nil) {
        guard isRecorded else { return }
        keep(TraceSpan(id: .random(), name: work, kind: .internal, start: start, end: loop.now, error: error))
    }

    /// Adds the record of a connection to the handshake that was noted last.
    public func note(_ security: SecurityRecord, isResumed: Bool) {
        guard isRecorded, let last = spans.indices.last else { return }
        spans[last].add("tls.protocol.version", security.version.map { "\($0)" })
        spans[last].add("tls.resumed", isResumed)
        spans[last].add("attache.trust.findings", security.trustFindings)
        spans[last].add("attache.trust.rule", security.trustRule?.label)
    }

    // MARK: - Legs

    /// Begins a leg for a message to a server.
    /// - Returns: its context, for `traceparent`.
    public func beginLeg(_ method: String, for record: ExchangeRecord) -> TraceContext {
        endLeg(status: nil)
        let id = TraceContext.SpanID.random()
        defer { (attempts, parentAnswer) = (record.facts.attempts, nil) }
        let context = TraceContext(trace: trace, span: id, isSampled: isSampled)
        guard isRecorded else { return context }
        let now = loop.now
        var leg = TraceSpan(id: id, name: method, kind: .client, start: now, end: now)
        if legs > 0 { leg.add("http.request.resend_count", legs) }
        leg.add("attache.parent", record.facts.parent?.parent.label)
        if record.facts.security?.speaksHTTP2 == true { leg.add("network.protocol.version", "2") }
        awaitsJudgement = record.facts.attempts > attempts
        if awaitsJudgement {
            leg.add("attache.answer.scheme", record.scheme.map { "\($0.token)" })
            leg.add("attache.answer.rule", record.rule?.label)
            if let rule = record.rule { leg.add("attache.answer.rule_line", rule.line) }
        }
        leg.add("attache.answer.parent_scheme", parentAnswer.map { "\($0.token)" })
        legs += 1
        self.leg = leg
        return context
    }

    /// Notes that the next leg has an answer to a challenge of the parent.
    public func answersParent(by scheme: AnsweredScheme?) { parentAnswer = scheme }

    /// Ends the current leg, if there is one.
    ///
    /// - Parameters:
    ///   - status: the status of the response; nil without a response.
    ///   - error: the reason of a failure: a sentence.
    public func endLeg(status: Int?, error: String? = nil) {
        guard var leg = leg.take() else { return }
        leg.end = legEnd.take() ?? loop.now
        leg.add("http.response.status_code", status)
        leg.error = error
        keep(leg)
    }

    /// Notes the decision about a challenge of the current leg.
    public func note(_ decision: ChallengeDecision) {
        guard leg != nil else { return }
        leg?.add("attache.challenge.method", decision.method)
        leg?.add("attache.challenge.realm", decision.realm)
        leg?.add("attache.challenge.rule", decision.rule.map { "\($0)" })
        leg?.add("attache.challenge.disposition", decision.disposition)
    }

    /// Notes that the response of the current leg is a challenge.
    ///
    /// - Parameter result: the verdict on the leg's answer; nil: it had none.
    public func meet(after result: AnswerResult?) {
        guard leg != nil else { return }
        legEnd = loop.now
        result.map(note)
    }

    /// Notes the verdict on the current leg's answer.
    public func note(_ result: AnswerResult) {
        guard awaitsJudgement || result != .unjudged else { return }
        awaitsJudgement = false
        leg?.add("attache.answer.result", result.rawValue)
    }

    private func keep(_ span: TraceSpan) {
        if spans.count < Self.spanLimit { spans.append(span) } else { spansDropped += 1 }
    }

    // MARK: - The end

    /// Ends the trace.
    ///
    /// - Returns: the span of the request.
    func end(_ record: ExchangeRecord) -> TraceSpan {
        let hasResponse = record.facts.error == nil && record.facts.status > 0
        // A known answer got no challenge.
        if hasResponse, awaitsJudgement { note(record.facts.status < 500 ? .accepted : .unjudged) }
        endLeg(
            status: hasResponse ? record.facts.status : nil,
            error: record.facts.error == nil ? nil : record.facts.details ?? record.facts.error?.rawValue)
        let now = loop.now
        var span = TraceSpan(
            id: id, name: record.methodName, kind: .server, start: now.minus(nanoseconds: record.facts.duration),
            end: now)
        span.add("client.address", record.clientName)
        span.add("network.protocol.name", "http")
        span.add(
            "network.protocol.version",
            record.facts.version == .http10 ? "1.0" : record.facts.version == .http2 ? "2" : "1.1")
        if record.facts.status > 0 { span.add("http.response.status_code", record.facts.status) }
        span.add("attache.route", record.facts.route)
        span.add("attache.parent", record.facts.parent?.parent.label)
        span.add("attache.challenge.schemes", record.facts.challenge?.schemes)
        if let error = record.facts.error {
            span.add("error.type", error.rawValue)
            span.error = record.facts.details ?? error.rawValue
        } else if record.facts.status >= 500 {
            span.add("error.type", "\(record.facts.status)")
            span.error = "the server answered \(record.facts.status)"
        }
        return span
    }

    /// The time of day at `LoopInstant.zero`, in nanoseconds since 1970.
    var epoch: Int { loop.epoch }
}

/// A decision about a challenge, in the words of the rule file. It contains no credential.
public struct ChallengeDecision {
    let method: String
    let realm: String?
    /// The rule; nil if none matched.
    let rule: RuleReference?
    let disposition: String

    public init(method: String, realm: String?, rule: RuleReference?, disposition: String) {
        (self.method, self.realm, self.rule, self.disposition) = (method, realm, rule, disposition)
    }
}

/// The outcome of an answer to a challenge.
public enum AnswerResult: String, Sendable {
    case accepted
    case refused
    /// The server sent another nonce.
    case stale
    /// The next token of the login follows.
    case continues
    /// The server has not judged it.
    case unjudged
    /// The server did not prove that it knows the credential.
    case unproven
}

/// The measured phases of a request, by their names in metrics and traces.
public enum Phase: String, CaseIterable, Sendable {
    /// The client's wait for admission, before its first request.
    case queue
    case nameLookup = "dns"
    case connect
    case handshake = "tls"
    /// The time from the first challenge of a request to the response to the last answer.
    case challenge
    /// The time from sending the request to the first byte of the response.
    case firstByte = "first-byte"
}
