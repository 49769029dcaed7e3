import IO

extension Metrics {
    /// The exchanges by their duration: up to 1 ms, 2 ms, 4 ms …, and longer ones last.
    public var durationCounts: [Int] { requestDurations.counts }

    /// Challenges that a client got, or a refusal for them.
    public var unansweredCount: Int {
        (AnsweredScheme.challenged + [nil]).reduce(0) { sum, scheme in
            UnansweredCause.allCases.reduce(sum) { $0 &+ unansweredCount(of: scheme, because: $1) }
        }
    }
}
