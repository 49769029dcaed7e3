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
