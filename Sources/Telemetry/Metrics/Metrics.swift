import HTTP
import IO
import Model
import Synchronization

/// The counters of one event loop. Only the loop writes them; any thread may read.
///
/// With one writer a relaxed load and store is enough, and needs no locked instruction. A reader sees each number
/// whole, though not all of one moment.
public final class Metrics: Sendable {
    private let counters = Counts(Counter.allCases.count)
    private let errors = Counts(ProxyError.allCases.count)
    /// Counts by the numbers of the methods.
    private let answered = Counts(AuthenticationMethod.allCases.count)
    /// Counts by method, then by cause; those of `other` are for all methods that cannot be answered.
    private let unanswered = Counts(AuthenticationMethod.allCases.count * UnansweredCause.allCases.count)
    /// Counts by result, then by method.
    private let logins = Counts(LoginResult.allCases.count * LoginMethod.allCases.count)
    private let idle = Atomic(0)
    private let requests = DurationHistogram()
    private let queue = DurationHistogram()
    private let nameLookup = DurationHistogram()
    private let connect = DurationHistogram()
    private let handshake = DurationHistogram()
    private let challenge = DurationHistogram()
    private let firstByte = DurationHistogram()
    /// The locks belong to one loop, and are seldom contended by a reader.
    private let answers = Mutex(AnswerCounts())
    private let trustExceptions = Mutex(BoundedCounts<String>(limit: 100))

    public init() {}

    public func add(_ count: Int = 1, to counter: Counter) {
        counters.add(count, at: counter.rawValue)
    }

    public func add(_ error: ProxyError) {
        errors.add(1, at: Self.index(of: error))
    }

    /// Counts an exchange that has ended: its status, bytes, answers, upstream connection, error and durations.
    public func add(_ record: ExchangeRecord) {
        switch record.facts.status {
        case 100..<200: add(to: .responses1xx)
        case 200..<300: add(to: .responses2xx)
        case 300..<400: add(to: .responses3xx)
        case 400..<500: add(to: .responses4xx)
        case 500...: add(to: .responses5xx)
        default: add(to: .responsesNone)
        }
        if record.facts.bytesIn > 0 { add(record.facts.bytesIn, to: .bytesIn) }
        if record.facts.bytesOut > 0 { add(record.facts.bytesOut, to: .bytesOut) }
        if let answer = record.facts.answer { add(answer) }
        if let answer = record.facts.parentAnswer { add(answer) }
        switch record.facts.upstream {
        case .opened: add(to: .upstreamOpened)
        case .reused: add(to: .upstreamReused)
        case .none: break
        }
        if let error = record.facts.error { add(error) }
        record.facts.parent?.addRequest()
        requests.add(record.facts.duration)
        if let duration = record.facts.wait { firstByte.add(duration) }
    }

    /// Counts a phase of a request that has ended, by the loop's clock.
    public func note(_ phase: Phase, from start: LoopInstant, to end: LoopInstant) {
        let duration = end.nanoseconds(since: start)
        switch phase {
        case .queue: queue.add(duration)
        case .nameLookup: nameLookup.add(duration)
        case .connect: connect.add(duration)
        case .handshake: handshake.add(duration)
        case .challenge: challenge.add(duration)
        case .firstByte: firstByte.add(duration)
        }
    }

    /// Counts an unanswered challenge.
    ///
    /// - Parameter scheme: the scheme; nil for one that is not supported.
    public func addUnanswered(_ scheme: AnsweredScheme?, because cause: UnansweredCause) {
        unanswered.add(1, at: Self.index(of: scheme, cause))
    }

    /// Counts a client's login that was checked.
    public func add(_ result: LoginResult, by method: LoginMethod) {
        logins.add(1, at: Self.index(of: result, method))
    }

    /// Counts a certificate that was shown to a server.
    public func addIdentityAnswer(rule: String?, credential: String) {
        answered.add(1, at: AuthenticationMethod.clientCertificate.traits.number)
        answers.withLock { $0.add(AnswerCounts.Labels(scheme: nil, credential: credential, rule: rule ?? "")) }
    }

    /// Counts an answer; nothing if there is a rule without an answer.
    private func add(_ answer: AnswerRecord) {
        switch answer.scheme {
        case nil: return
        case .method(let method): answered.add(1, at: method.traits.number)
        case .signature(.aws): add(to: .signedByAWS)
        case .signature(.oauth1): add(to: .signedByOAuth1)
        case .signature(.message): add(to: .signedMessages)
        }
        answers.withLock { $0.add(answer) }
    }

    /// Counts a connection to a server whose certificate had a problem, by the rule that forgave it.
    public func addTrustException(by rule: String) { trustExceptions.withLock { $0.add(rule) } }

    /// The number of idle connections to servers.
    public var idleConnections: Int {
        get { idle.load(ordering: .relaxed) }
        set { idle.store(newValue, ordering: .relaxed) }
    }

    public func value(of counter: Counter) -> Int { counters[counter.rawValue] }

    /// Exchanges in which an answer of that method went to a server.
    public func answeredCount(of method: AuthenticationMethod) -> Int {
        answered[method.traits.number]
    }

    func loginCount(_ result: LoginResult, by method: LoginMethod) -> Int {
        logins[Self.index(of: result, method)]
    }

    func value(of error: ProxyError) -> Int { errors[Self.index(of: error)] }

    func unansweredCount(of scheme: AnsweredScheme?, because cause: UnansweredCause) -> Int {
        unanswered[Self.index(of: scheme, cause)]
    }

    var answerCounts: BoundedCounts<AnswerCounts.Labels> { answers.withLock { $0.counts } }

    /// The number of connections with an exception, by rule.
    var trustExceptionCounts: BoundedCounts<String> { trustExceptions.withLock { $0 } }

    /// The durations of whole exchanges.
    public var requestDurations: DurationHistogram.Durations { requests.durations }

    func durations(of phase: Phase) -> DurationHistogram.Durations {
        switch phase {
        case .queue: queue.durations
        case .nameLookup: nameLookup.durations
        case .connect: connect.durations
        case .handshake: handshake.durations
        case .challenge: challenge.durations
        case .firstByte: firstByte.durations
        }
    }

    /// Exchanges in which a challenge was answered, or would have been, by the scheme's name in metrics.
    public var answersByScheme: [(scheme: String, count: Int)] {
        AuthenticationMethod.challenged.map { ($0.rawValue, answeredCount(of: $0)) }
            + [
                ("\(SignatureSource.Scheme.aws.label)", value(of: .signedByAWS)),
                ("\(SignatureSource.Scheme.oauth1.label)", value(of: .signedByOAuth1)),
                ("\(SignatureSource.Scheme.message.label)", value(of: .signedMessages)),
                ("placed", answeredCount(of: .default)),
                ("client-certificate", answeredCount(of: .clientCertificate)),
            ]
    }

    /// The number of challenges that were passed to a client, or refused to it.
    public var unansweredCount: Int {
        (AnsweredScheme.challenged + [nil]).reduce(0) { sum, scheme in
            UnansweredCause.allCases.reduce(sum) { $0 &+ unansweredCount(of: scheme, because: $1) }
        }
    }

    /// A linear search is enough, since errors are rare.
    private static func index(of error: ProxyError) -> Int { ProxyError.allCases.firstIndex(of: error) ?? 0 }

    private static func index(of scheme: AnsweredScheme?, _ cause: UnansweredCause) -> Int {
        let method: AuthenticationMethod =
            if case .method(let method)? = scheme, method != .default { method } else { .other }
        return method.traits.number * UnansweredCause.allCases.count
            + (UnansweredCause.allCases.firstIndex(of: cause) ?? 0)
    }

    private static func index(of result: LoginResult, _ method: LoginMethod) -> Int {
        (result == .accepted ? 0 : LoginMethod.allCases.count)
            + (LoginMethod.allCases.firstIndex(of: method) ?? 0)
    }

    /// The result of the check of a client's login.
    public enum LoginResult: String, CaseIterable, Sendable {
        case accepted
        case refused
    }

    /// The method of a client's login to this proxy.
    public enum LoginMethod: String, CaseIterable, Sendable {
        case basic
        case digest
        case negotiate
        case bearer
    }

    /// Answers by the rule that decided, the name of the credential and the scheme.
    struct AnswerCounts: Sendable {
        struct Labels: Hashable, Sendable {
            /// Nil: a client certificate.
            let scheme: AnsweredScheme?
            let credential: String
            /// Empty: none.
            let rule: String
        }

        private(set) var counts = BoundedCounts<Labels>(limit: 100)
        /// The answer that was counted last, and its index: mostly it is the next one as well.
        private var latest: AnswerRecord?
        private var latestIndex = 0

        mutating func add(_ answer: AnswerRecord) {
            if answer !== latest {
                // A client may bring as many names as it likes in its URLs.
                let credential = answer.credential ?? ""
                latestIndex = counts.index(
                    of: Labels(
                        scheme: answer.scheme, credential: credential.hasPrefix("url:") ? "url" : credential,
                        rule: answer.rule?.label ?? ""))
                latest = answer
            }
            counts.add(at: latestIndex)
        }

        mutating func add(_ labels: Labels) { counts.add(labels) }
    }

    /// A row of counters, as long as an enum has cases.
    private struct Counts: ~Copyable, Sendable {
        private final class Block: Sendable {
            let numbers = InlineArray<64, Atomic<Int>> { _ in Atomic(0) }
        }

        private let first = InlineArray<64, Atomic<Int>> { _ in Atomic(0) }
        /// The blocks of the counters behind the first 64.
        private let others: [Block]

        init(_ count: Int) { others = (0..<max(0, count - 1) / 64).map { _ in Block() } }

        subscript(index: Int) -> Int {
            index < 64
                ? first[index].load(ordering: .relaxed)
                : others[index / 64 - 1].numbers[index % 64].load(ordering: .relaxed)
        }

        func add(_ count: Int, at index: Int) {
            if index < 64 {
                Self.add(count, to: first[index])
            } else {
                Self.add(count, to: others[index / 64 - 1].numbers[index % 64])
            }
        }

        private static func add(_ count: Int, to number: borrowing Atomic<Int>) {
            number.store(number.load(ordering: .relaxed) &+ count, ordering: .relaxed)
        }
    }
}

/// The general reason why a challenge was not answered, by its name in metrics.
public enum UnansweredCause: String, CaseIterable, Sendable {
    /// No rule covers the server.
    case noRule = "no-rule"
    /// A rule covers the server, but another predicate of the rule does not match.
    case mismatch
    /// The rules say `default`, and no credential is stored.
    case noCredential = "no-credential"
    case rejected
    case cancelled
    /// The request had an `Authorization` field of the client.
    case ownAuthorization = "own-authorization"
    case refused
    case parked
    case exposing
    /// An answer was begun and failed.
    case failed
    /// The challenge is not supported.
    case unsupported
}
