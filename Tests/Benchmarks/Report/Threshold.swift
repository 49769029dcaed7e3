/// A line of `thresholds.txt`: the figure that is wanted, and the one that fails the run.
struct Threshold {
    enum Subject: String {
        /// The figure itself.
        case value
        /// The figure in parts of the one it is compared with, which is HAProxy's unless the table says another.
        case ratio
    }

    let metric: String
    let subject: Subject
    /// The aim, at most: shown, never fatal.
    let wanted: Double?
    /// The most that passes. Figures that are the same on every machine have one, and ratios far above the noise.
    let gate: Double?

    /// Four words a line, with `-` for a limit that there is not; `#` starts a comment.
    static func parse(_ text: String) throws(BenchError) -> [Threshold] {
        var thresholds: [Threshold] = []
        for (place, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.prefix { $0 != "#" }.split(separator: " ").map(String.init)
            if words.isEmpty { continue }
            guard words.count == 4, let subject = Subject(rawValue: words[1]),
                words[2...].allSatisfy({ $0 == "-" || Double($0) != nil }),
                !thresholds.contains(where: { $0.metric == words[0] })
            else {
                throw .thresholds(
                    "line \(place + 1) of the thresholds is not `metric value|ratio wanted gate`, or is a second one")
            }
            thresholds.append(
                Threshold(metric: words[0], subject: subject, wanted: Double(words[2]), gate: Double(words[3])))
        }
        return thresholds
    }
}
