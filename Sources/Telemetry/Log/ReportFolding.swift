/// Folds repeated reports: a sentence is written when it is new, and the number of its repetitions at the end of a
/// period. A value without a clock.
public struct ReportFolding {
    private struct Repetition {
        let since: ContinuousClock.Instant
        var count = 0
    }

    private let period: Duration
    private var said: [String: Repetition] = [:]

    /// The limit of remembered sentences; further ones are written each time.
    private static let capacity = 256

    public init(period: Duration = .seconds(10)) { self.period = period }

    /// - Returns: the lines to write now.
    public mutating func add(_ sentence: String, at now: ContinuousClock.Instant) -> [String] {
        let repeated = due(at: now)
        if said[sentence] != nil {
            said[sentence]?.count += 1
            return repeated
        }
        if said.count < Self.capacity { said[sentence] = Repetition(since: now) }
        return repeated + [sentence]
    }

    /// The lines about repetitions in periods that are over.
    public mutating func due(at now: ContinuousClock.Instant) -> [String] {
        let period = period
        return end { now - $0.since >= period }
    }

    /// The lines about all repetitions, as if all periods were over.
    public mutating func finish() -> [String] { end { _ in true } }

    private mutating func end(_ isOver: (Repetition) -> Bool) -> [String] {
        var sentences: [String] = []
        for (sentence, repetition) in said where isOver(repetition) {
            said[sentence] = nil
            if repetition.count > 0 {
                let times = repetition.count == 1 ? "once more" : "\(repetition.count) more times"
                sentences.append("\(sentence) (said \(times))")
            }
        }
        return sentences.sorted()
    }
}
