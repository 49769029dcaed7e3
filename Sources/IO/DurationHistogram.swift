import Synchronization

/// Counts durations that one loop measures on its clock. That loop alone writes; any thread may read.
///
/// With one writer a relaxed load and store is enough, and costs no locked instruction. The buckets are powers of two from
/// 1 ms to 65.536 s, and one for all above, so that the bucket is a count of leading zeros, not a search.
public struct DurationHistogram: ~Copyable, Sendable {
    public static let buckets = 18

    private let counts = InlineArray<18, Atomic<Int>> { _ in Atomic(0) }
    private let sum = Atomic(0)

    public init() {}

    public func add(_ milliseconds: Int) {
        Self.add(1, to: counts[Self.bucket(of: milliseconds)])
        if milliseconds > 0 { Self.add(milliseconds, to: sum) }
    }

    /// The durations so far. A writer may be between two numbers: the total is that of the buckets, so that these agree.
    public var durations: Durations {
        Durations(
            counts: (0..<Self.buckets).map { counts[$0].load(ordering: .relaxed) },
            milliseconds: sum.load(ordering: .relaxed))
    }

    /// The bucket whose bound is the smallest not below `milliseconds`.
    private static func bucket(of milliseconds: Int) -> Int {
        guard milliseconds > 1 else { return 0 }
        return min(Int.bitWidth - (milliseconds - 1).leadingZeroBitCount, buckets - 1)
    }

    private static func add(_ count: Int, to number: borrowing Atomic<Int>) {
        number.store(number.load(ordering: .relaxed) &+ count, ordering: .relaxed)
    }
}

/// Durations by the buckets of `DurationHistogram`.
public struct Durations: Sendable {
    public private(set) var counts: [Int]
    public private(set) var milliseconds: Int

    init(counts: [Int], milliseconds: Int) {
        self.counts = counts
        self.milliseconds = milliseconds
    }

    /// Those of all loops.
    public init(sumOf all: [Durations]) {
        self.init(counts: Array(repeating: 0, count: DurationHistogram.buckets), milliseconds: 0)
        for durations in all {
            for (bucket, count) in durations.counts.enumerated() { counts[bucket] &+= count }
            milliseconds &+= durations.milliseconds
        }
    }
}
