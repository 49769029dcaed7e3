import HTTP
import Synchronization

/// The counters of one event loop, which alone writes them; any thread may read.
///
/// With one writer a relaxed load and store is enough, and costs no locked instruction. A reader sees each number
/// whole, though not all of one moment.
public final class Metrics: Sendable {
    private let counters = InlineArray<44, Atomic<Int>> { _ in Atomic(0) }
    private let errors = InlineArray<32, Atomic<Int>> { _ in Atomic(0) }
    private let durations = InlineArray<18, Atomic<Int>> { _ in Atomic(0) }
    private let durationSum = Atomic(0)
    private let trustExceptions = Mutex<[String: Int]>([:])

    public init() {}

    public func add(_ count: Int = 1, to counter: Counter) {
        Self.add(count, to: counters[counter.rawValue])
    }

    public func add(_ error: ProxyError) {
        Self.add(1, to: errors[Self.place(of: error)])
    }

    /// Counts an exchange that has ended: its status, bytes, answer, upstream connection, error and duration.
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
        if let scheme = record.scheme { add(scheme) }
        if let scheme = record.parentScheme { add(scheme) }
        switch record.upstream {
        case .opened: add(to: .upstreamOpened)
        case .reused: add(to: .upstreamReused)
        case .none: break
        }
        if let error = record.error { add(error) }
        Self.add(1, to: durations[DurationBuckets.index(of: record.milliseconds)])
        Self.add(max(record.milliseconds, 0), to: durationSum)
    }

    /// Counts a challenge that nobody answered.
    ///
    /// - Parameter scheme: nil for one that cannot be answered.
    public func addUnanswered(_ scheme: AnsweredScheme?) {
        switch scheme {
        case .basic: add(to: .unansweredBasic)
        case .digest: add(to: .unansweredDigest)
        case .ntlm: add(to: .unansweredNTLM)
        case .negotiate: add(to: .unansweredNegotiate)
        case .bearer: add(to: .unansweredBearer)
        case .form: add(to: .unansweredForm)
        case .signature, .placed, nil: add(to: .unansweredOther)
        }
    }

    private func add(_ scheme: AnsweredScheme) {
        switch scheme {
        case .basic: add(to: .answeredBasic)
        case .digest: add(to: .answeredDigest)
        case .ntlm: add(to: .answeredNTLM)
        case .negotiate: add(to: .answeredNegotiate)
        case .bearer: add(to: .answeredBearer)
        case .form: add(to: .answeredForm)
        case .signature: add(to: .signed)
        case .placed: add(to: .placed)
        }
    }

    /// Counts a connection that was made although its server's certificate had a finding, by the rule that forgave it.
    public func addTrustException(by rule: String) {
        trustExceptions.withLock { $0[rule, default: 0] &+= 1 }
    }

    /// Connections made under an exception, by rule.
    var trustExceptionCounts: [String: Int] { trustExceptions.withLock { $0 } }

    public func value(of counter: Counter) -> Int { counters[counter.rawValue].load(ordering: .relaxed) }

    func value(of error: ProxyError) -> Int { errors[Self.place(of: error)].load(ordering: .relaxed) }

    /// The exchanges in one bucket of `DurationBuckets`.
    func durationCount(in bucket: Int) -> Int { durations[bucket].load(ordering: .relaxed) }

    /// The milliseconds of all exchanges.
    var durationMilliseconds: Int { durationSum.load(ordering: .relaxed) }

    /// Errors are rare enough to be looked for.
    private static func place(of error: ProxyError) -> Int { ProxyError.allCases.firstIndex(of: error) ?? 0 }

    private static func add(_ count: Int, to number: borrowing Atomic<Int>) {
        number.store(number.load(ordering: .relaxed) &+ count, ordering: .relaxed)
    }
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
    /// A challenge that the client got, or a refusal for it, by its scheme.
    case unansweredBasic
    case unansweredDigest
    case unansweredNTLM
    case unansweredNegotiate
    case unansweredBearer
    case unansweredForm
    case unansweredOther
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
}

/// The histogram's buckets: powers of two from 1 ms to 65.536 s, and one for all above.
///
/// Powers of two make the bucket a count of leading zeros, not a search.
enum DurationBuckets {
    static let count = 18

    /// The bucket whose bound is the smallest not below `milliseconds`.
    static func index(of milliseconds: Int) -> Int {
        guard milliseconds > 1 else { return 0 }
        return min(Int.bitWidth - (milliseconds - 1).leadingZeroBitCount, count - 1)
    }

    /// The upper bound in seconds as Prometheus writes it.
    static func bound(of index: Int) -> String {
        guard index < count - 1 else { return "+Inf" }
        return seconds(1 << index)
    }

    static func seconds(_ milliseconds: Int) -> String {
        let fraction = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)"
    }
}
