import IO

extension Metrics {
    /// The number of exchanges by duration, in the buckets of `DurationHistogram`.
    public var durationCounts: [Int] { requestDurations.counts }

    /// The number of challenges that were passed to a client, or refused to it.
    public var unansweredCount: Int {
        (AnsweredScheme.challenged + [nil]).reduce(0) { sum, scheme in
            UnansweredCause.allCases.reduce(sum) { $0 &+ unansweredCount(of: scheme, because: $1) }
        }
    }
}
