import Model

/// Counts by keys that the rule file or peers name. The number of keys is limited; all further keys are counted
/// together.
struct BoundedCounts<Key: Hashable & Sendable>: Sendable {
    private var indices: [Key: Int] = [:]
    /// Counts by key. `counts[0]` is for all keys beyond the limit.
    private var counts = [0]
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    mutating func add(_ key: Key) { add(at: index(of: key)) }

    /// - Parameter index: the result of `index(of:)`, which never changes.
    mutating func add(at index: Int) { counts[index] &+= 1 }

    mutating func index(of key: Key) -> Int {
        if let index = indices[key] { return index }
        guard indices.count < limit else { return 0 }
        indices[key] = counts.count
        counts.append(0)
        return counts.count - 1
    }

    /// The counts by key, and the count of all keys beyond the limit.
    typealias Sum = (known: [Key: Int], others: Int)

    static func sum(_ all: [BoundedCounts]) -> Sum {
        all.reduce(into: ([:], 0)) { sum, counts in
            sum.known.merge(counts.indices.mapValues { counts.counts[$0] }, uniquingKeysWith: &+)
            sum.others &+= counts.counts[0]
        }
    }
}
