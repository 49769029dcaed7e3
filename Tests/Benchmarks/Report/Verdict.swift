/// The verdict of a threshold on a finding.
enum Verdict: String {
    case met
    /// The figure is above the wanted one, and not above the gate.
    case over
    /// The figure is above the gate.
    case failed = "FAILED"
    /// There is nothing to compare with, which a gate does not survive.
    case incomparable = "not compared"

    init(_ finding: Finding, under threshold: Threshold) {
        let figure: Double? =
            switch threshold.subject {
            case .value: finding.ours
            case .ratio: finding.ratio
            }
        guard let figure else {
            self = threshold.gate == nil ? .incomparable : .failed
            return
        }
        if let gate = threshold.gate, figure > gate {
            self = .failed
        } else if let wanted = threshold.wanted, figure > wanted {
            self = .over
        } else {
            self = .met
        }
    }
}
