/// The findings of a run beside their thresholds.
struct Report {
    let thresholds: [Threshold]
    var findings: [Finding] = []
    /// Measures that could not be taken, programs to compare with that are not there, and why.
    var faults: [String] = []
    /// Whether all measures were asked for.
    private let isWhole: Bool
    /// The load of other programs meanwhile, in parts of a processor.
    var foreignLoad: Double?

    init(thresholds: [Threshold], isWhole: Bool) {
        self.thresholds = thresholds
        self.isWhole = isWhole
    }

    /// Whether every measure was taken and every gate held.
    var passes: Bool {
        faults.isEmpty && unjudged.isEmpty && !findings.contains { verdict(of: $0) == .failed }
            && !unmeasured.contains { $0.gate != nil }
    }

    /// The findings without a threshold, which could get worse unnoticed.
    private var unjudged: [Finding] { findings.filter { threshold(of: $0) == nil } }

    /// Thresholds of a whole run that no finding belongs to: the contestant or the parent that they need is missing.
    private var unmeasured: [Threshold] {
        guard isWhole else { return [] }
        return thresholds.filter { threshold in !findings.contains { $0.metric == threshold.metric } }
    }

    /// A table for the terminal, and what it takes to read it.
    var text: String {
        let rows = [["", "attache", "HAProxy", "ratio", "wanted", "gate", "verdict"]] + findings.map(row)
        let widths = (0..<7).map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            row.enumerated().map { column, text in
                let padding = String(repeating: " ", count: widths[column] - text.count)
                return (1...3).contains(column) ? padding + text : text + padding
            }.joined(separator: "  ")
        }
        lines.insert(String(repeating: "─", count: widths.reduce(10, +)), at: 1)
        lines += faults.map { "FAILED  \($0)" }
        lines += unmeasured.map { "\($0.gate == nil ? "missing" : "FAILED")  \($0.metric) was not measured" }
        lines += unjudged.map { "FAILED  \($0.metric) has no threshold" }
        if let foreignLoad {
            let share = Figure.text(foreignLoad * 100)
            lines.append("Other processes used \(share) % of a processor during the timed runs.")
        }
        lines.append(conclusion)
        return lines.joined(separator: "\n")
    }

    private var conclusion: String {
        if passes { return "All gates hold." }
        return faults.isEmpty ? "A gate failed." : "Not everything could be measured."
    }

    private func threshold(of finding: Finding) -> Threshold? { thresholds.first { $0.metric == finding.metric } }

    private func verdict(of finding: Finding) -> Verdict? {
        threshold(of: finding).map { Verdict(finding, under: $0) }
    }

    private func row(_ finding: Finding) -> [String] {
        let other = finding.rival == Finding.standard ? "" : " (\(finding.rival))"
        let unit = finding.unit.isEmpty ? "" : " " + finding.unit
        let threshold = threshold(of: finding)
        let most = { (limit: Double?) in
            guard let limit else { return "" }
            return switch threshold?.subject {
            case .ratio: "≤ \(Figure.text(limit)) × \(finding.rival)"
            default: "≤ \(Figure.text(limit))\(unit)"
            }
        }
        return [
            finding.title,
            Figure.text(finding.ours) + unit,
            finding.theirs.map { Figure.text($0) + unit + other } ?? "",
            finding.ratio.map { Figure.fixed($0, digits: 2) } ?? "",
            most(threshold?.wanted),
            most(threshold?.gate),
            verdict(of: finding)?.rawValue ?? "",
        ]
    }
}
