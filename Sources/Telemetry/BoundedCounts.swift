import Synchronization

/// Counts by keys that the rule file or others name: so many keys at most, and all others together. Any thread may read.
///
/// The lock is one loop's, which meets a reader now and then.
final class BoundedCounts<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var places: [Key: Int] = [:]
        var counts: [Int] = []
        var others = 0
        /// The key that was counted last: mostly it is the next one as well.
        var last: (key: Key, place: Int)?
    }

    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func add(_ key: Key) {
        state.withLock { state in
            if let last = state.last, last.key == key {
                state.counts[last.place] &+= 1
            } else if let place = state.places[key] {
                state.counts[place] &+= 1
                state.last = (key, place)
            } else if state.counts.count < limit {
                state.places[key] = state.counts.count
                state.counts.append(1)
            } else {
                state.others &+= 1
            }
        }
    }

    /// The counts by key, and of the keys that were too many.
    var counts: (known: [Key: Int], others: Int) {
        state.withLock { state in (state.places.mapValues { state.counts[$0] }, state.others) }
    }

    /// Those of all loops.
    static func sum(_ all: [BoundedCounts]) -> (known: [Key: Int], others: Int) {
        all.map(\.counts).reduce(into: ([:], 0)) { sum, counts in
            sum.known.merge(counts.known, uniquingKeysWith: &+)
            sum.others &+= counts.others
        }
    }
}
