import IO

extension Metrics {
    /// The exchanges by their duration, in the buckets of `DurationHistogram`.
    public var durationCounts: [Int] { requestDurations.counts }

    /// Challenges that a client got, or a refusal for them.
    public var unansweredCount: Int {
        (AnsweredScheme.challenged + [nil]).reduce(0) { sum, scheme in
            UnansweredCause.allCases.reduce(sum) { $0 &+ unansweredCount(of: scheme, because: $1) }
        }
    }
}
