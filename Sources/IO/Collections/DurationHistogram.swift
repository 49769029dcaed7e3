import Synchronization

/// Counts durations that one loop measures on its clock, in nanoseconds. Only that loop writes; any thread may read.
///
/// There is one writer, so a relaxed load and store is enough. It needs no locked instruction. The bounds of the buckets are
/// powers of two from 2^16 ns (66 µs) to 2^36 ns (69 s); one more bucket is for longer durations. So the bucket is
/// found by counting leading zeros, and 1.05 ms is a bound.
public struct DurationHistogram: ~Copyable, Sendable {
    public static let buckets = 22
    private static let lowest = 16

    private let counts = InlineArray<22, Atomic<Int>> { _ in Atomic(0) }
    /// The sum wraps after 584 years, which ten thousand tunnels reach in three weeks: readers take that for a restart.
    private let sum = Atomic<UInt64>(0)

    public init() {}

    public func add(_ nanoseconds: UInt64) {
        Self.add(1, to: counts[Self.bucket(of: nanoseconds)])
        sum.store(sum.load(ordering: .relaxed) &+ nanoseconds, ordering: .relaxed)
    }

    /// The durations so far. A writer may be between two numbers, so the total is computed from the buckets.
    public var durations: Durations {
        Durations(
            counts: (0..<Self.buckets).map { counts[$0].load(ordering: .relaxed) },
            nanoseconds: sum.load(ordering: .relaxed))
    }

    /// The upper bound of a bucket, in nanoseconds; nil for the bucket of the longest durations.
    public static func bound(of bucket: Int) -> Int? { bucket < buckets - 1 ? 1 << (bucket + lowest) : nil }

    /// The bucket with the smallest bound above `nanoseconds`.
    private static func bucket(of nanoseconds: UInt64) -> Int {
        min(UInt64.bitWidth - (nanoseconds >> UInt64(lowest)).leadingZeroBitCount, buckets - 1)
    }

    private static func add(_ count: Int, to number: borrowing Atomic<Int>) {
        number.store(number.load(ordering: .relaxed) &+ count, ordering: .relaxed)
    }

    /// The durations in the buckets of `DurationHistogram`.
    public struct Durations: Sendable {
        public private(set) var counts: [Int]
        public private(set) var nanoseconds: UInt64

        init(counts: [Int], nanoseconds: UInt64) {
            self.counts = counts
            self.nanoseconds = nanoseconds
        }

        /// Sums the durations of all loops.
        public init(sumOf all: [DurationHistogram.Durations]) {
            self.init(counts: Array(repeating: 0, count: DurationHistogram.buckets), nanoseconds: 0)
            for durations in all {
                for (bucket, count) in durations.counts.enumerated() { counts[bucket] &+= count }
                nanoseconds &+= durations.nanoseconds
            }
        }
    }
}
