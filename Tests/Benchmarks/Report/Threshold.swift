/// A line of `thresholds.txt`: what a figure may be at most.
struct Threshold {
    enum Subject: String {
        /// The figure itself.
        case value
        /// The figure in parts of the one it is compared with, which is HAProxy's unless the table says another.
        case ratio
    }

    enum Kind: String {
        /// Exact enough to fail the run.
        case gate
        /// A time, which depends on the machine: shown, never fatal.
        case report
    }

    let metric: String
    let subject: Subject
    let kind: Kind
    let limit: Double

    /// Four words a line; `#` starts a comment.
    static func parse(_ text: String) throws(BenchError) -> [Threshold] {
        var thresholds: [Threshold] = []
        for (place, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.prefix { $0 != "#" }.split(separator: " ")
            if words.isEmpty { continue }
            guard words.count == 4, let subject = Subject(rawValue: String(words[1])),
                let kind = Kind(rawValue: String(words[2])), let limit = Double(words[3])
            else {
                throw .thresholds("line \(place + 1) of the thresholds is not `metric value|ratio gate|report limit`")
            }
            thresholds.append(Threshold(metric: String(words[0]), subject: subject, kind: kind, limit: limit))
        }
        return thresholds
    }
}
