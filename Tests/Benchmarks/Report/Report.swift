/// The findings of a run beside their thresholds.
struct Report {
    let thresholds: [Threshold]
    var findings: [Finding] = []
    /// Measures that could not be taken, and why.
    var faults: [String] = []
    /// Whether all measures were asked for.
    private let isWhole: Bool
    /// What others used meanwhile, in parts of a processor.
    var foreignLoad: Double?

    init(thresholds: [Threshold], isWhole: Bool) {
        self.thresholds = thresholds
        self.isWhole = isWhole
    }

    /// Whether every measure was taken and every gate held.
    var passes: Bool {
        faults.isEmpty && !findings.contains { verdict(of: $0) == .failed }
            && !unmeasured.contains { $0.kind == .gate }
    }

    /// Thresholds of a whole run that no finding belongs to: the contestant or the parent that they need is missing.
    private var unmeasured: [Threshold] {
        guard isWhole else { return [] }
        return thresholds.filter { threshold in !findings.contains { $0.metric == threshold.metric } }
    }

    /// A table for the terminal, and what it takes to read it.
    var text: String {
        let rows = [["", "attache", "HAProxy", "ratio", "target", "verdict"]] + findings.map(row)
        let widths = (0..<6).map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            row.enumerated().map { column, text in
                let padding = String(repeating: " ", count: widths[column] - text.count)
                return (1...3).contains(column) ? padding + text : text + padding
            }.joined(separator: "  ")
        }
        lines.insert(String(repeating: "─", count: widths.reduce(10, +)), at: 1)
        lines += faults.map { "FAILED  \($0)" }
        lines += unmeasured.map { "\($0.kind == .gate ? "FAILED" : "missing")  \($0.metric) was not measured" }
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
        let target = threshold(of: finding).map { threshold in
            switch threshold.subject {
            case .value: "≤ \(Figure.text(threshold.limit))\(unit)"
            case .ratio: "≤ \(Figure.text(threshold.limit)) × \(finding.rival)"
            }
        }
        return [
            finding.title,
            Figure.text(finding.ours) + unit,
            finding.theirs.map { Figure.text($0) + unit + other } ?? "",
            finding.ratio.map { Figure.fixed($0, digits: 2) } ?? "",
            target ?? "",
            verdict(of: finding)?.rawValue ?? "",
        ]
    }
}
