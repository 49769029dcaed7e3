import Bytes
import IO

/// The proxy's counters at one moment, over all exchanges since the start.
public struct LoadFigures: Sendable {
    public var requests = 0
    /// The requests that ended in a 5xx, or without a response.
    public var failed = 0
    public var bytesIn = 0
    public var bytesOut = 0
    /// The challenges that were answered, and in `unanswered` those that were not.
    public var answered = 0
    public var unanswered = 0
    /// The number of requests by duration, in the buckets of `DurationHistogram`.
    public var durations: [Int] = []
    /// The current client connections.
    public var clients = 0

    public init() {}

    /// The load of one second.
    struct Sample {
        let time: WallTime
        /// The figures of the second alone, except that of the connections.
        private var load: LoadFigures
        /// The median of the durations in milliseconds; `slow` is the 95th percentile. Nil without requests.
        let median: Double?
        let slow: Double?

        init(from before: LoadFigures, to now: LoadFigures, at time: WallTime) {
            self.time = time
            load = now
            load.requests -= before.requests
            load.failed -= before.failed
            load.bytesIn -= before.bytesIn
            load.bytesOut -= before.bytesOut
            load.answered -= before.answered
            load.unanswered -= before.unanswered
            load.durations = zip(now.durations, before.durations).map { max(0, $0 - $1) }
            median = Self.quantile(0.5, of: load.durations)
            slow = Self.quantile(0.95, of: load.durations)
        }

        /// A quantile. Within a bucket durations count as evenly spread.
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

        /// The upper bound of a bucket in milliseconds; for the last bucket twice the previous bound.
        private static func bound(of bucket: Int) -> Double {
            if let nanoseconds = DurationHistogram.bound(of: bucket) { return Double(nanoseconds) / 1_000_000 }
            return DurationHistogram.bound(of: DurationHistogram.buckets - 2).map { Double($0) / 500_000 } ?? 0
        }

        func write(to json: inout JSONText) {
            json.object { json in
                json.member("time", time.seconds)
                json.member("requests", load.requests)
                json.member("failed", load.failed)
                json.member("in", load.bytesIn)
                json.member("out", load.bytesOut)
                json.member("answered", load.answered)
                json.member("unanswered", load.unanswered)
                json.member("clients", load.clients)
                json.member("median", median.map(Self.hundredths))
                json.member("slow", slow.map(Self.hundredths))
            }
        }

        /// Hundredths of a millisecond, since this JSON has whole numbers only.
        private static func hundredths(_ milliseconds: Double) -> Int { Int(milliseconds * 100) }
    }
}
