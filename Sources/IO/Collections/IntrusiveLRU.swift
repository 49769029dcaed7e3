/// The order in which entries were used, so that the least recently used one can be found. Each step is a few stores:
/// entries know their neighbours, but do not retain them. `LRUMap` says which order is for
/// what.
///
/// Belongs to one loop.
public struct IntrusiveLRU: ~Copyable {
    /// The entry between the oldest and the newest, which closes the ring.
    private let ends = Entry()

    public init() { ends.closeRing() }

    /// The least recently used entry.
    public var oldest: Entry? { ends.next }

    /// All entries, the least recently used first.
    public var entries: [Entry] {
        var entries: [Entry] = []
        var next = oldest
        while let entry = next, entry !== ends {
            entries.append(entry)
            next = entry.next
        }
        return entries
    }

    /// Marks the entry as used now; it may be in the order already.
    public func use(_ entry: Entry) {
        entry.leaveOrder()
        entry.stand(before: ends)
    }

    /// An entry of one order at a time. It leaves the order with its last reference.
    open class Entry {
        /// The neighbours as pointers, since references would be counted at each step.
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

        /// Removes the entry. Calling it twice is harmless.
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

        /// The newer neighbour; nil if the entry is alone.
        fileprivate final var next: Entry? {
            guard let newer = links.pointee.newer, newer != links else { return nil }
            return newer.pointee.entry
        }
    }
}
