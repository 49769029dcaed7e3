/// Counts by keys that the rule file or others name: so many keys at most, and all others together.
struct BoundedCounts<Key: Hashable & Sendable>: Sendable {
    private var places: [Key: Int] = [:]
    /// Those of the keys that were too many come first.
    private var counts = [0]
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    mutating func add(_ key: Key) { add(at: place(of: key)) }

    /// - Parameter place: as `place` found it, once and for all.
    mutating func add(at place: Int) { counts[place] &+= 1 }

    mutating func place(of key: Key) -> Int {
        if let place = places[key] { return place }
        guard places.count < limit else { return 0 }
        places[key] = counts.count
        counts.append(0)
        return counts.count - 1
    }

    /// The counts by key, and of the keys that were too many.
    typealias Sum = (known: [Key: Int], others: Int)

    static func sum(_ all: [BoundedCounts]) -> Sum {
        all.reduce(into: ([:], 0)) { sum, counts in
            sum.known.merge(counts.places.mapValues { counts.counts[$0] }, uniquingKeysWith: &+)
            sum.others &+= counts.counts[0]
        }
    }
}

/// Answers by the rule that decided, the name of the credential and the scheme.
struct AnswerCounts: Sendable {
    struct Labels: Hashable, Sendable {
        /// Nil: a client certificate.
        let scheme: AnsweredScheme?
        let credential: String
        /// Empty: none, or that of a parent.
        let rule: String
    }

    private(set) var counts = BoundedCounts<Labels>(limit: 100)
    /// The answer that was counted last, and its place: mostly it is the next one as well.
    private var latest: AnswerRecord?
    private var latestPlace = 0

    /// - Parameter isOfParent: whether a parent got it. Always the same for one answer.
    mutating func add(_ answer: AnswerRecord, ofParent isOfParent: Bool) {
        if answer !== latest {
            // A client may bring as many names as it likes in its URLs.
            let credential = answer.credential ?? ""
            latestPlace = counts.place(
                of: Labels(
                    scheme: answer.scheme, credential: credential.hasPrefix("url:") ? "url" : credential,
                    rule: isOfParent ? "" : answer.rule ?? ""))
            latest = answer
        }
        counts.add(at: latestPlace)
    }

    mutating func add(_ labels: Labels) { counts.add(labels) }
}
