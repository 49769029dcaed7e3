/// Events of a played clock. Those of the same time come in the order in which they were added.
struct EventQueue<Event> {
    private struct Entry {
        let time: Int
        let order: Int
        let event: Event

        func precedes(_ other: Entry) -> Bool { time != other.time ? time < other.time : order < other.order }
    }

    /// A heap: no entry comes before its parent, which is at half its place.
    private var entries: [Entry] = []
    private var count = 0

    mutating func add(_ event: Event, at time: Int) {
        count += 1
        entries.append(Entry(time: time, order: count, event: event))
        var place = entries.count - 1
        while place > 0, entries[place].precedes(entries[(place - 1) / 2]) {
            entries.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func next() -> (time: Int, event: Event)? {
        guard let first = entries.first else { return nil }
        let last = entries.removeLast()
        if !entries.isEmpty {
            entries[0] = last
            sink()
        }
        return (first.time, first.event)
    }

    /// Moves the first entry down to its place.
    private mutating func sink() {
        var place = 0
        while true {
            var least = place
            let child = 2 * place + 1
            if child < entries.count, entries[child].precedes(entries[least]) { least = child }
            if child + 1 < entries.count, entries[child + 1].precedes(entries[least]) { least = child + 1 }
            if least == place { return }
            entries.swapAt(place, least)
            place = least
        }
    }
}
