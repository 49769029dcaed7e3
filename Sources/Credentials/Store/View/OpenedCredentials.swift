import Authentication

/// The few credentials of a view that were used lately, opened. One that is replaced, or not used for long, is let go of,
/// and its password zeroed with the last request that holds it.
struct OpenedCredentials {
    private struct Entry {
        let row: Int
        let credential: Credential
        var isRecent = true
    }

    private let capacity: Int
    private var entries: [Entry?] = []
    /// Where the search for the next to go begins.
    private var hand = 0

    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// - Parameter place: as `add` gave it.
    subscript(place: Int) -> Credential? {
        mutating get {
            guard entries.indices.contains(place), let entry = entries[place] else { return nil }
            if !entry.isRecent { entries[place]?.isRecent = true }
            return entry.credential
        }
    }

    /// - Returns: where it is, and the row that had to go for it.
    mutating func add(_ credential: Credential, of row: Int) -> (place: Int, evicted: Int?) {
        if entries.count < capacity {
            entries.append(Entry(row: row, credential: credential))
            return (entries.count - 1, nil)
        }
        while entries[hand]?.isRecent == true {
            entries[hand]?.isRecent = false
            hand = (hand + 1) % capacity
        }
        let place = hand
        let evicted = entries[place]?.row
        entries[place] = Entry(row: row, credential: credential)
        hand = (hand + 1) % capacity
        return (place, evicted)
    }

    mutating func remove(_ place: Int) {
        if entries.indices.contains(place) { entries[place] = nil }
    }
}
