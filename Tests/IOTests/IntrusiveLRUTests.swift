import Testing

@testable import IO

struct IntrusiveLRUTests {
    @Test func `entries stand in the order of their last use, and leave it once or with their last reference`() {
        let order = IntrusiveLRU()
        let entries = (0..<4).map { _ in IntrusiveLRU.Entry() }
        for entry in entries { order.use(entry) }
        order.use(IntrusiveLRU.Entry())
        order.use(entries[0])
        entries[2].leaveOrder()
        entries[2].leaveOrder()
        let (all, oldest) = (order.entries.map(ObjectIdentifier.init), order.oldest)
        #expect(all == [entries[1], entries[3], entries[0]].map(ObjectIdentifier.init))
        #expect(oldest === entries[1])
        #expect(entries.map(\.isInOrder) == [true, true, false, true])
    }

    @Test func `an order that ends leaves its entries for another`() {
        let entries = (0..<2).map { _ in IntrusiveLRU.Entry() }
        do {
            let first = IntrusiveLRU()
            for entry in entries { first.use(entry) }
        }
        let second = IntrusiveLRU()
        let before = second.oldest
        second.use(entries[1])
        let after = second.entries
        #expect(before == nil)
        #expect(after.count == 1 && after.first === entries[1])
    }
}
