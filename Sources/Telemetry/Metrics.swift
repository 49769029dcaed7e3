import HTTP
import Synchronization

/// The counters of one event loop, which alone writes them; any thread may read.
///
/// With one writer a relaxed load and store is enough, and costs no locked instruction. A reader sees each number
/// whole, though not all of one moment.
public final class Metrics: Sendable {
    private let counters = InlineArray<36, Atomic<Int>> { _ in Atomic(0) }
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

    private func add(_ scheme: AnsweredScheme) {
        switch scheme {
        case .basic: add(to: .answeredBasic)
        case .digest: add(to: .answeredDigest)
        case .ntlm: add(to: .answeredNTLM)
        case .negotiate: add(to: .answeredNegotiate)
        case .bearer: add(to: .answeredBearer)
        case .form: add(to: .answeredForm)
        case .signature: add(to: .signed)
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
