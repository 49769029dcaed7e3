import Testing

@testable import IO

/// The queue of a pool: clients can fill it faster than it is emptied.
struct RingTests {
    private final class Work {}

    @Test(arguments: [1, 255, 256, 257, 1000])
    func `elements come out in their order, however adding and taking alternate`(burst: Int) {
        var ring = Ring<Int>()
        var (added, taken) = (0, 0)
        for _ in 0..<5 {
            for _ in 0..<burst {
                ring.append(added)
                added += 1
            }
            // A part stays, so that the places in use move through all of it.
            for _ in 0..<(burst + 1) / 2 {
                #expect(ring.popFirst() == taken)
                taken += 1
            }
            #expect(ring.count == added - taken)
        }
        while let next = ring.popFirst() {
            #expect(next == taken)
            taken += 1
        }
        #expect(taken == added && ring.isEmpty)
    }

    @Test func `an element that was taken is let go of while others wait`() throws {
        var ring = Ring<Work>()
        weak var first: Work?
        do {
            let work = Work()
            first = work
            ring.append(work)
        }
        for _ in 0..<1000 { ring.append(Work()) }
        #expect(first != nil)
        _ = ring.popFirst()
        #expect(first == nil)
        #expect(ring.count == 1000)
    }
}
