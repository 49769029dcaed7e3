import HTTP
import IO
import Synchronization

/// The counters of one event loop, which alone writes them; any thread may read.
///
/// With one writer a relaxed load and store is enough, and costs no locked instruction. A reader sees each number
/// whole, though not all of one moment.
public final class Metrics: Sendable {
    private let counters = InlineArray<42, Atomic<Int>> { _ in Atomic(0) }
    private let errors = InlineArray<32, Atomic<Int>> { _ in Atomic(0) }
    private let unanswered = InlineArray<77, Atomic<Int>> { _ in Atomic(0) }
    private let idle = Atomic(0)
    private let requests = DurationHistogram()
    private let phases = InlineArray<6, DurationHistogram> { _ in DurationHistogram() }
    /// The locks are one loop's, which meets a reader now and then.
    private let answers = Mutex(AnswerCounts())
    private let trustExceptions = Mutex(BoundedCounts<String>(limit: 100))

    public init() {}

    public func add(_ count: Int = 1, to counter: Counter) {
        Self.add(count, to: counters[counter.rawValue])
    }

    public func add(_ error: ProxyError) {
        Self.add(1, to: errors[Self.index(of: error)])
    }

    /// Counts an exchange that has ended: its status, bytes, answers, upstream connection, error and durations.
    public func add(_ record: ExchangeRecord) {
        switch record.status {
        case 100..<200: add(to: .responses1xx)
        case 200..<300: add(to: .responses2xx)
        case 300..<400: add(to: .responses3xx)
        case 400..<500: add(to: .responses4xx)
        case 500...: add(to: .responses5xx)
        default: add(to: .responsesNone)
        }
        if record.bytesIn > 0 { add(record.bytesIn, to: .bytesIn) }
        if record.bytesOut > 0 { add(record.bytesOut, to: .bytesOut) }
        if let answer = record.answer { add(answer) }
        if let answer = record.parentAnswer { add(answer, ofParent: true) }
        switch record.upstream {
        case .opened: add(to: .upstreamOpened)
        case .reused: add(to: .upstreamReused)
        case .none: break
        }
        if let error = record.error { add(error) }
        record.parent?.addRequest()
        requests.add(record.duration)
        if let duration = record.wait { phases[Phase.firstByte.rawValue].add(duration) }
    }

    /// A phase of a request has ended, by the loop's clock in nanoseconds.
    public func note(_ phase: Phase, from start: UInt64, to end: UInt64) {
        phases[phase.rawValue].add(end &- start)
    }

    /// Counts a challenge that nobody answered.
    ///
    /// - Parameter scheme: nil for one that cannot be answered.
    public func addUnanswered(_ scheme: AnsweredScheme?, because cause: UnansweredCause) {
        Self.add(1, to: unanswered[Self.index(of: scheme, cause)])
    }

    /// Counts a certificate that a server was shown.
    public func addIdentityAnswer(rule: String?, credential: String) {
        add(to: .answeredClientCertificate)
        answers.withLock { $0.add(AnswerCounts.Labels(scheme: nil, credential: credential, rule: rule ?? "")) }
    }

    /// Nothing where there is a rule, and no answer.
    private func add(_ answer: AnswerRecord, ofParent isOfParent: Bool = false) {
        switch answer.scheme {
        case nil: return
        case .basic: add(to: .answeredBasic)
        case .digest: add(to: .answeredDigest)
        case .ntlm: add(to: .answeredNTLM)
        case .negotiate: add(to: .answeredNegotiate)
        case .bearer: add(to: .answeredBearer)
        case .form: add(to: .answeredForm)
        case .signature: add(to: .signed)
        case .placed: add(to: .placed)
        }
        answers.withLock { $0.add(answer, ofParent: isOfParent) }
    }

    /// Counts a connection that was made although its server's certificate had a finding, by the rule that forgave it.
    public func addTrustException(by rule: String) { trustExceptions.withLock { $0.add(rule) } }

    /// Connections to servers that are kept for a later request.
    public var idleConnections: Int {
        get { idle.load(ordering: .relaxed) }
        set { idle.store(newValue, ordering: .relaxed) }
    }

    public func value(of counter: Counter) -> Int { counters[counter.rawValue].load(ordering: .relaxed) }

    func value(of error: ProxyError) -> Int { errors[Self.index(of: error)].load(ordering: .relaxed) }

    func unansweredCount(of scheme: AnsweredScheme?, because cause: UnansweredCause) -> Int {
        unanswered[Self.index(of: scheme, cause)].load(ordering: .relaxed)
    }

    var answerCounts: BoundedCounts<AnswerCounts.Labels> { answers.withLock { $0.counts } }

    /// Connections made under an exception, by rule.
    var trustExceptionCounts: BoundedCounts<String> { trustExceptions.withLock { $0 } }

    /// Of whole exchanges.
    var requestDurations: Durations { requests.durations }

    func durations(of phase: Phase) -> Durations { phases[phase.rawValue].durations }

    /// Errors are rare enough to be looked for.
    private static func index(of error: ProxyError) -> Int { ProxyError.allCases.firstIndex(of: error) ?? 0 }

    private static func index(of scheme: AnsweredScheme?, _ cause: UnansweredCause) -> Int {
        let index = scheme.flatMap(AnsweredScheme.challenged.firstIndex) ?? AnsweredScheme.challenged.count
        return index * UnansweredCause.allCases.count + cause.rawValue
    }

    private static func add(_ count: Int, to number: borrowing Atomic<Int>) {
        number.store(number.load(ordering: .relaxed) &+ count, ordering: .relaxed)
    }
}

/// Why a challenge was not answered, in the large.
public enum UnansweredCause: Int, CaseIterable, Sendable {
    /// No rule is for the server.
    case noRule
    /// A rule is for the server, and some other predicate of it does not match.
    case mismatch
    /// The rules say `default`, and there is no credential.
    case noCredential
    case rejected
    case cancelled
    /// The request came with an `Authorization` of the client's own.
    case ownAuthorization
    case refused
    case parked
    /// The response would show the credential to the client.
    case exposing
    /// An answer was begun, and did not come about.
    case failed
    /// The challenge is none that could be answered.
    case unsupported

    var token: String {
        switch self {
        case .noRule: "no-rule"
        case .mismatch: "mismatch"
        case .noCredential: "no-credential"
        case .rejected: "rejected"
        case .cancelled: "cancelled"
        case .ownAuthorization: "own-authorization"
        case .refused: "refused"
        case .parked: "parked"
        case .exposing: "exposing"
        case .failed: "failed"
        case .unsupported: "unsupported"
        }
    }
}

extension AnsweredScheme {
    /// Those that servers ask for.
    static let challenged: [AnsweredScheme] = [.basic, .digest, .ntlm, .negotiate, .bearer, .form]
}

/// Events that are counted, beside errors and durations.
public enum Counter: Int, CaseIterable, Sendable {
    /// Exchanges by the class of the status sent; none when the client left before one was.
    case responsesNone
    case responses1xx
    case responses2xx
    case responses3xx
    case responses4xx
    case responses5xx
    case answeredBasic
    case answeredDigest
    case answeredNTLM
    case answeredNegotiate
    case answeredBearer
    case answeredForm
    case signed
    case placed
    case answeredClientCertificate
    /// A credential was sent and the peer refused it.
    case credentialsRefused
    /// A challenge was not answered because its credential is parked.
    case credentialsParked
    /// The proxy's own requests to learn whether a credential is good, by the server's verdict.
    case probesAccepted
    case probesRefused
    case probesUndecided
    case upstreamOpened
    case upstreamReused
    /// TLS handshakes with origins that came to a good end, by whether a session was taken up again.
    case upstreamHandshakesFull
    case upstreamHandshakesResumed
    /// TLS handshakes with clients, at a listener or in a tunnel.
    case clientHandshakesFull
    case clientHandshakesResumed
    case clientHandshakesFailed
    case tunnelsOpened
    case tunnelsClosed
    /// Tunnels whose requests were looked into; they are not among those opened.
    case tunnelsIntercepted
    case clientsAccepted
    case clientsClosed
    /// Clients that were not served: by `clients { allow … }`, and because one of the limits was met.
    case clientsRefusedByList
    case clientsRefusedAtLimit
    case clientsRefusedAtAddressLimit
    /// Clients that waited for nothing but their next request, and were closed so that others had room.
    case clientsDisplaced
    case bytesIn
    case bytesOut
    /// Requests that were about to go to another server than they were for.
    case requestsMisdirected
    /// Lines of the access log that found no room.
    case logLinesDropped
    /// Spans of traces that the collector has taken, and those that were let go.
    case spansSent
    case spansDropped
}
