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
        fileprivate struct Links {
            unowned(unsafe) let entry: Entry
            var newer: UnsafeMutablePointer<Links>?
            var older: UnsafeMutablePointer<Links>?
        }

        private final let links: UnsafeMutablePointer<Links>

        public init() {
            links = .allocate(capacity: 1)
            links.initialize(to: Links(entry: self))
        }

        deinit {
            leaveOrder()
            links.deallocate()
        }

        public final var isInOrder: Bool { links.pointee.newer != nil }

        /// Once is enough, twice does no harm.
        public final func leaveOrder() {
            guard let newer = links.pointee.newer, let older = links.pointee.older else { return }
            newer.pointee.older = older
            older.pointee.newer = newer
            links.pointee.newer = nil
            links.pointee.older = nil
        }

        fileprivate final func closeRing() {
            links.pointee.newer = links
            links.pointee.older = links
        }

        fileprivate final func stand(before other: Entry) {
            let older = other.links.pointee.older
            links.pointee.newer = other.links
            links.pointee.older = older
            older?.pointee.newer = links
            other.links.pointee.older = links
        }

        /// The newer neighbour; nil where there is none but itself.
        fileprivate final var next: Entry? {
            guard let newer = links.pointee.newer, newer != links else { return nil }
            return newer.pointee.entry
        }
    }
}
