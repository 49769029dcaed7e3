/// The order in which entries were used, so that the one used longest ago can be found. Each step is a few stores: entries
/// know their neighbours, and are not kept alive by them.
///
/// Belongs to one loop.
public struct UseOrder: ~Copyable {
    /// A ring: it stands between the oldest and the newest.
    private let ends = Entry()

    public init() { ends.closeRing() }

    /// The one used longest ago.
    public var oldest: Entry? { ends.next }

    /// All of them, the one used longest ago first.
    public var entries: [Entry] {
        var entries: [Entry] = []
        var next = oldest
        while let entry = next, entry !== ends {
            entries.append(entry)
            next = entry.next
        }
        return entries
    }

    /// The entry is used now; it may be in the order already.
    public func use(_ entry: Entry) {
        entry.leaveOrder()
        entry.stand(before: ends)
    }

    /// An entry stands in one order at a time. It leaves with its last reference.
    open class Entry {
        /// Pointers, since references would be counted with each step.
        fileprivate struct Place {
            unowned(unsafe) let entry: Entry
            var newer: UnsafeMutablePointer<Place>?
            var older: UnsafeMutablePointer<Place>?
        }

        private final let place: UnsafeMutablePointer<Place>

        public init() {
            place = .allocate(capacity: 1)
            place.initialize(to: Place(entry: self))
        }

        deinit {
            leaveOrder()
            place.deallocate()
        }

        public final var isInOrder: Bool { place.pointee.newer != nil }

        /// Once is enough, twice does no harm.
        public final func leaveOrder() {
            guard let newer = place.pointee.newer, let older = place.pointee.older else { return }
            newer.pointee.older = older
            older.pointee.newer = newer
            place.pointee.newer = nil
            place.pointee.older = nil
        }

        fileprivate final func closeRing() {
            place.pointee.newer = place
            place.pointee.older = place
        }

        fileprivate final func stand(before other: Entry) {
            let older = other.place.pointee.older
            place.pointee.newer = other.place
            place.pointee.older = older
            older?.pointee.newer = place
            other.place.pointee.older = place
        }

        /// The newer neighbour; nil where there is none but itself.
        fileprivate final var next: Entry? {
            guard let newer = place.pointee.newer, newer != place else { return nil }
            return newer.pointee.entry
        }
    }
}
