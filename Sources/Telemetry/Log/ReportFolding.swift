/// Folds reports that are repeated: a sentence is said when it is new, and how often it was repeated when a period is
/// over. A value without a clock.
public struct ReportFolding {
    private struct Repetition {
        let since: ContinuousClock.Instant
        var count = 0
    }

    private let period: Duration
    private var said: [String: Repetition] = [:]

    /// Sentences that are kept in mind; beyond it others are said each time.
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

    /// How often sentences were repeated in periods that are over.
    public mutating func due(at now: ContinuousClock.Instant) -> [String] {
        let period = period
        return end { now - $0.since >= period }
    }

    /// As if all periods were over.
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
