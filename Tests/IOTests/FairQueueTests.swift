import Bytes
import Testing

@testable import IO

struct FairQueueTests {
    private typealias Turn = FairQueue<Int>.Turn

    private func turn(_ source: UInt32, rank: Int = 0, subject: UInt128? = nil) -> Turn {
        Turn(source: IPAddress(v4: source), rank: rank, subject: subject)
    }

    /// Does all that waits, one after the other.
    private func order(_ queue: inout FairQueue<Int>) -> [Int] {
        var order: [Int] = []
        while let next = queue.next() {
            order.append(next)
            queue.finish(next)
        }
        return order
    }

    @Test func `a source that brings a hundred pieces delays the first of another by one`() {
        var queue = FairQueue<Int>(limit: 1000)
        for key in 0..<100 { #expect(queue.add(key, turn(1)) == .waits) }
        #expect(queue.next() == 0)
        queue.finish(0)
        #expect(queue.next() == 1)
        #expect(queue.add(1000, turn(2)) == .waits)
        #expect(queue.add(1001, turn(2)) == .waits)
        queue.finish(1)
        #expect(order(&queue).prefix(4) == [1000, 2, 1001, 3])
    }

    @Test func `a source that comes back has saved no rounds, and lost none`() {
        var queue = FairQueue<Int>(limit: 100)
        for key in 0..<10 { _ = queue.add(key, turn(1)) }
        #expect(order(&queue) == Array(0..<10))
        for key in [20, 21] { _ = queue.add(key, turn(2)) }
        for key in [10, 11] { _ = queue.add(key, turn(1)) }
        #expect(order(&queue) == [20, 10, 21, 11])
    }

    @Test func `lower ranks come first`() {
        var queue = FairQueue<Int>(limit: 100)
        for key in 0..<3 { _ = queue.add(key, turn(1, rank: 2)) }
        _ = queue.add(10, turn(1, rank: 1))
        _ = queue.add(20, turn(1, rank: 0))
        #expect(order(&queue) == [20, 10, 0, 1, 2])
    }

    @Test func `work of one subject or of one source is done one piece at a time`() {
        var queue = FairQueue<Int>(limit: 100)
        _ = queue.add(0, turn(1, subject: 7))
        _ = queue.add(1, turn(1, subject: 8))
        _ = queue.add(2, turn(2, subject: 7))
        _ = queue.add(3, turn(3, subject: 9))
        #expect(queue.next() == 0)
        #expect(queue.next() == 3)
        #expect(!queue.hasNext)
        // Without a subject it may be done beside all others.
        _ = queue.add(4, turn(1))
        #expect(queue.next() == 4)
        queue.finish(0)
        #expect(queue.next() == 2)
        #expect(queue.next() == 1)
    }

    @Test func `the same work waits once, as early as the first of those who want it`() {
        var queue = FairQueue<Int>(limit: 100)
        for key in 0..<5 { _ = queue.add(key, turn(1)) }
        #expect(queue.add(4, turn(2)) == .joins)
        #expect(order(&queue) == [0, 4, 1, 2, 3])
        _ = queue.add(5, turn(1))
        #expect(queue.next() == 5)
        #expect(queue.add(5, turn(2)) == .joins)
        #expect(!queue.hasNext)
    }

    @Test func `a full queue takes one from whoever brought the most, and no more of the same`() {
        var queue = FairQueue<Int>(limit: 4)
        for key in 0..<4 { _ = queue.add(key, turn(1)) }
        #expect(queue.add(4, turn(1)) == .refused)
        #expect(queue.add(5, turn(2)) == .replaces(3))
        #expect(queue.add(6, turn(2)) == .replaces(2))
        #expect(queue.add(7, turn(2)) == .refused)
        // A rank is worth more than any round.
        #expect(queue.add(8, turn(1, rank: -1)) == .replaces(6))
        #expect(order(&queue) == [8, 0, 5, 1])
    }

    @Test func `withdrawn work takes no room, and work that is being done cannot be withdrawn`() {
        var queue = FairQueue<Int>(limit: 2)
        for key in 0..<3 { _ = queue.add(key, turn(1)) }
        #expect(queue.withdraw(1) == true)
        #expect(queue.withdraw(1) == false)
        #expect(queue.add(3, turn(1)) == .waits)
        #expect(queue.next() == 0)
        #expect(queue.withdraw(0) == false)
        #expect(queue.next() == 3)
    }
}
