import IO

/// The proxy's counters at one moment: of all exchanges since the start.
public struct LoadFigures: Sendable {
    public var requests = 0
    /// Requests that ended in a 5xx, or without a response.
    public var failed = 0
    public var bytesIn = 0
    public var bytesOut = 0
    /// Challenges that were answered, and that nobody answered.
    public var answered = 0
    public var unanswered = 0
    /// Requests by their duration: in the buckets of `DurationHistogram`.
    public var durations: [Int] = []
    /// Connections of clients at this moment.
    public var clients = 0

    public init() {}
}

/// The load of one second.
struct LoadSample {
    /// Seconds since 1970.
    let time: Int
    let requests: Int
    let failed: Int
    let bytesIn: Int
    let bytesOut: Int
    let answered: Int
    let unanswered: Int
    let clients: Int
    /// Milliseconds in which half of the requests were done, and 95 of 100; nil: there were none.
    let median: Double?
    let slow: Double?

    init(from before: LoadFigures, to now: LoadFigures, at time: Int) {
        self.time = time
        requests = now.requests - before.requests
        failed = now.failed - before.failed
        bytesIn = now.bytesIn - before.bytesIn
        bytesOut = now.bytesOut - before.bytesOut
        answered = now.answered - before.answered
        unanswered = now.unanswered - before.unanswered
        clients = now.clients
        let counts = zip(now.durations, before.durations).map { max(0, $0 - $1) }
        median = Self.quantile(0.5, of: counts)
        slow = Self.quantile(0.95, of: counts)
    }

    /// Within a bucket durations count as spread evenly.
    static func quantile(_ share: Double, of counts: [Int]) -> Double? {
        let total = counts.reduce(0, +)
        guard total > 0 else { return nil }
        var rest = share * Double(total)
        for (index, count) in counts.enumerated() where count > 0 {
            if rest > Double(count) {
                rest -= Double(count)
                continue
            }
            let bound = bound(of: index)
            let floor = index == 0 ? 0 : bound / 2
            return floor + (bound - floor) * rest / Double(count)
        }
        return bound(of: counts.count - 1)
    }

    /// Milliseconds; of the longest durations twice the bound before.
    private static func bound(of bucket: Int) -> Double {
        if let nanoseconds = DurationHistogram.bound(of: bucket) { return Double(nanoseconds) / 1_000_000 }
        return DurationHistogram.bound(of: DurationHistogram.buckets - 2).map { Double($0) / 500_000 } ?? 0
    }

    func write(to json: inout JSONText) {
        json.object { json in
            json.member("time", time)
            json.member("requests", requests)
            json.member("failed", failed)
            json.member("in", bytesIn)
            json.member("out", bytesOut)
            json.member("answered", answered)
            json.member("unanswered", unanswered)
            json.member("clients", clients)
            json.member("median", median.map(Self.hundredths))
            json.member("slow", slow.map(Self.hundredths))
        }
    }

    /// Hundredths of a millisecond: JSON here has whole numbers.
    private static func hundredths(_ milliseconds: Double) -> Int { Int(milliseconds * 100) }
}
