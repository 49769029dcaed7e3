/// What a threshold says of a finding.
enum Verdict: String {
    case met
    /// Above a limit that is only reported.
    case over
    /// Above a gate.
    case failed = "FAILED"
    /// There is nothing to compare with, which only a report survives.
    case incomparable = "not compared"

    init(_ finding: Finding, under threshold: Threshold) {
        let figure: Double? =
            switch threshold.subject {
            case .value: finding.ours
            case .ratio: finding.ratio
            }
        guard let figure else {
            self = threshold.kind == .gate ? .failed : .incomparable
            return
        }
        switch threshold.kind {
        case _ where figure <= threshold.limit: self = .met
        case .gate: self = .failed
        case .report: self = .over
        }
    }
}
