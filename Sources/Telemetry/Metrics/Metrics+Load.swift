import IO
import Model

extension Metrics {
    /// The number of exchanges by duration, in the buckets of `DurationHistogram`.
    public var durationCounts: [Int] { requestDurations.counts }

    /// Exchanges in which a challenge was answered, or would have been, by the scheme's name in metrics.
    public var answersByScheme: [(scheme: String, count: Int)] {
        AuthenticationMethod.challenged.map { ($0.rawValue, answeredCount(of: $0)) }
            + [
                ("aws", value(of: .signed)), ("placed", answeredCount(of: .default)),
                ("client-certificate", answeredCount(of: .clientCertificate)),
            ]
    }

    /// The number of challenges that were passed to a client, or refused to it.
    public var unansweredCount: Int {
        (AnsweredScheme.challenged + [nil]).reduce(0) { sum, scheme in
            UnansweredCause.allCases.reduce(sum) { $0 &+ unansweredCount(of: scheme, because: $1) }
        }
    }
}
