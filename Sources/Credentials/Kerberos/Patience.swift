/// How long one request waits for KDCs, over all that it asks of them.
struct Patience {
    private let limit: Int?
    private let end: ContinuousClock.Instant?

    /// - Parameter limit: milliseconds from now; nil: without end.
    init(_ limit: Int?) {
        self.limit = limit
        end = limit.map { .now + .milliseconds($0) }
    }

    /// Milliseconds; nil: without end.
    var rest: Int? {
        end.map { end in
            let (seconds, attoseconds) = (end - .now).components
            return max(0, Int(clamping: seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
        }
    }

    /// For a sentence.
    var words: String {
        guard let limit else { return "" }
        return " within " + (limit % 1000 == 0 ? "\(limit / 1000) s" : "\(limit) ms")
    }
}
