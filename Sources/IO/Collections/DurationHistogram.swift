import Synchronization

/// Counts durations that one loop measures on its clock, in nanoseconds. That loop alone writes; any thread may read.
///
/// With one writer a relaxed load and store is enough, and costs no locked instruction. The bounds of the buckets are powers
/// of two from 2^16 ns (66 µs) to 2^36 ns (69 s), and one bucket is for all above, so that the bucket is a count of leading
/// zeros, not a search, and 1.05 ms is a bound.
public struct DurationHistogram: ~Copyable, Sendable {
    public static let buckets = 22
    private static let lowest = 16

    private let counts = InlineArray<22, Atomic<Int>> { _ in Atomic(0) }
    /// Begins anew after 584 years, which ten thousand tunnels have in three weeks: readers take that for a restart.
    private let sum = Atomic<UInt64>(0)

    public init() {}

    public func add(_ nanoseconds: UInt64) {
        Self.add(1, to: counts[Self.bucket(of: nanoseconds)])
        sum.store(sum.load(ordering: .relaxed) &+ nanoseconds, ordering: .relaxed)
    }

    /// The durations so far. A writer may be between two numbers: the total is that of the buckets, so that these agree.
    public var durations: Durations {
        Durations(
            counts: (0..<Self.buckets).map { counts[$0].load(ordering: .relaxed) },
            nanoseconds: sum.load(ordering: .relaxed))
    }

    /// The durations in that bucket are below it, in nanoseconds; nil: the bucket is that of the longest.
    public static func bound(of bucket: Int) -> Int? { bucket < buckets - 1 ? 1 << (bucket + lowest) : nil }

    /// The bucket with the smallest bound above `nanoseconds`.
    private static func bucket(of nanoseconds: UInt64) -> Int {
        min(UInt64.bitWidth - (nanoseconds >> UInt64(lowest)).leadingZeroBitCount, buckets - 1)
    }

    private static func add(_ count: Int, to number: borrowing Atomic<Int>) {
        number.store(number.load(ordering: .relaxed) &+ count, ordering: .relaxed)
    }
}

/// Durations by the buckets of `DurationHistogram`.
public struct Durations: Sendable {
    public private(set) var counts: [Int]
    public private(set) var nanoseconds: UInt64

    init(counts: [Int], nanoseconds: UInt64) {
        self.counts = counts
        self.nanoseconds = nanoseconds
    }

    /// Those of all loops.
    public init(sumOf all: [Durations]) {
        self.init(counts: Array(repeating: 0, count: DurationHistogram.buckets), nanoseconds: 0)
        for durations in all {
            for (bucket, count) in durations.counts.enumerated() { counts[bucket] &+= count }
            nanoseconds &+= durations.nanoseconds
        }
    }
}
