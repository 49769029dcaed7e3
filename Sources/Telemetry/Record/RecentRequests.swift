import Bytes
import Synchronization

/// The last requests of all loops, for the dashboard. Failed requests are always kept, others only while a browser is
/// logged in to the dashboard, so that a plain request costs one comparison.
///
/// It is bounded by number and by bytes: long requests make the list shorter.
public final class RecentRequests: Sendable {
    private struct State {
        /// The JSON objects without their opening brace. The request with number `n` is at `n % limit`.
        var requests: [[UInt8]] = []
        /// The numbers of the oldest kept request and of the next one.
        var first = 1
        var next = 1
        var bytes = 0

        mutating func dropFirst() {
            let place = first % requests.count
            bytes -= requests[place].count
            requests[place] = []
            first += 1
        }
    }

    private let state = Mutex(State())
    private let hasReader = Atomic(false)
    private let limit: Int
    private let byteLimit: Int

    /// - Parameters:
    ///   - limit: the limit of requests.
    ///   - byteLimit: the limit of all their bytes together.
    public init(limit: Int = 1000, byteLimit: Int = 1 << 20) { (self.limit, self.byteLimit) = (limit, byteLimit) }

    /// Whether a browser is logged in to the dashboard.
    public var isWatched: Bool {
        get { hasReader.load(ordering: .relaxed) }
        set { hasReader.store(newValue, ordering: .relaxed) }
    }

    /// Whether the request of a complete record is kept.
    public func wants(_ record: ExchangeRecord) -> Bool {
        guard record.parts.contains(.challenges) else { return false }
        return record.facts.error != nil || record.facts.status >= 400 || record.facts.status == 0
            || record.facts.challenge != nil
            || isWatched
    }

    /// - Parameter request: the content of a JSON object after its opening brace.
    public func add(_ request: [UInt8]) {
        state.withLock { state in
            if state.requests.isEmpty { state.requests = Array(repeating: [], count: limit) }
            if state.next - state.first == limit { state.dropFirst() }
            let place = state.next % limit
            state.requests[place] = request
            state.bytes += request.count
            state.next += 1
            while state.bytes > byteLimit, state.first < state.next { state.dropFirst() }
        }
    }

    /// The number of the last request; 0 if there was no request.
    public var last: Int { state.withLock { $0.next - 1 } }

    /// Appends the requests after a number to a list in JSON, the oldest first, each with its `number`.
    ///
    /// - Returns: the number of the last one.
    public func write(after number: Int, into buffer: ByteBuffer) -> Int {
        state.withLock { state in
            let first = max(state.first, number + 1)
            for number in first..<max(first, state.next) {
                if number > first { buffer.append(UInt8(ascii: ",")) }
                buffer.append(#"{"number":"#)
                buffer.append(decimal: number)
                buffer.append(UInt8(ascii: ","))
                buffer.append(state.requests[number % limit])
            }
            return state.next - 1
        }
    }
}
