/// Finds slot numbers by hashes: a hash table without keys, which its owner already has. Linear probing.
struct SlotTable {
    /// The places. Each has the lower half of a hash and, above it, the slot's number plus one; 0 is free.
    private var places: [UInt64] = Array(repeating: 0, count: 16)
    private var count = 0

    /// The state of a search.
    struct Candidates {
        fileprivate let hash: UInt32
        fileprivate var place: Int
    }

    /// Begins the search for the slots of that hash; a few others may follow. Allocates nothing.
    func candidates(_ hash: UInt64) -> Candidates {
        Candidates(hash: UInt32(truncatingIfNeeded: hash), place: home(of: hash))
    }

    func next(_ candidates: inout Candidates) -> Int? {
        while places[candidates.place] != 0 {
            let entry = places[candidates.place]
            candidates.place = next(candidates.place)
            if Self.hash(in: entry) == candidates.hash { return Self.slot(in: entry) }
        }
        return nil
    }

    /// The slot of that hash for which `isMeant` is true.
    func first(_ hash: UInt64, where isMeant: (Int) -> Bool) -> Int? {
        var candidates = candidates(hash)
        while let slot = next(&candidates) {
            if isMeant(slot) { return slot }
        }
        return nil
    }

    /// - Parameter slot: below 2³² - 1, and not in the table yet.
    mutating func insert(_ slot: Int, _ hash: UInt64) {
        if (count + 1) * 4 > places.count * 3 { grow() }
        count += 1
        put(UInt64(UInt32(clamping: slot + 1)) << 32 | hash & 0xFFFF_FFFF)
    }

    mutating func remove(_ slot: Int, _ hash: UInt64) {
        var place = home(of: hash)
        while places[place] != 0, Self.slot(in: places[place]) != slot { place = next(place) }
        guard places[place] != 0 else { return }
        places[place] = 0
        count -= 1
        // Entries that follow without a gap may belong to this place.
        var follower = next(place)
        while places[follower] != 0 {
            let entry = places[follower]
            places[follower] = 0
            put(entry)
            follower = next(follower)
        }
    }

    private mutating func put(_ entry: UInt64) {
        var place = home(of: UInt64(Self.hash(in: entry)))
        while places[place] != 0 { place = next(place) }
        places[place] = entry
    }

    private mutating func grow() {
        let old = places
        places = Array(repeating: 0, count: old.count * 2)
        for entry in old where entry != 0 { put(entry) }
    }

    private func home(of hash: UInt64) -> Int { Int(hash & UInt64(places.count - 1)) & 0xFFFF_FFFF }

    private func next(_ place: Int) -> Int { (place + 1) & (places.count - 1) }

    private static func slot(in entry: UInt64) -> Int { Int(entry >> 32) - 1 }

    private static func hash(in entry: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: entry) }
}

/// Elements that keep their number while they exist; numbers are reused after that.
struct Slots<Element: Sendable>: Sendable {
    private var elements: [Element?] = []
    private var free: [UInt32] = []

    var indices: Range<Int> { elements.indices }

    /// The element; nil for a free slot.
    subscript(slot: Int) -> Element? {
        get { elements.indices.contains(slot) ? elements[slot] : nil }
        _modify {
            precondition(elements.indices.contains(slot), "a slot that was never given")
            yield &elements[slot]
        }
    }

    mutating func add(_ element: Element) -> Int {
        if let slot = free.popLast() {
            elements[Int(slot)] = element
            return Int(slot)
        }
        elements.append(element)
        return elements.count - 1
    }

    mutating func remove(_ slot: Int) {
        guard elements[slot] != nil else { return }
        elements[slot] = nil
        free.append(UInt32(clamping: slot))
    }
}
