import Foundation
import Synchronization
import Testing

@testable import IO

@Suite struct BlockingPoolTests {
    @Test(arguments: [0, 1])
    func `work is done with however few threads the system gives`(given: Int) async {
        let asked = Asked()
        let pool = BlockingPool(threads: 4) { body in
            guard asked.count.add(1, ordering: .relaxed).oldValue < given else { return false }
            Thread.detachNewThread { body() }
            return true
        }
        let sum = await withTaskGroup { group in
            for number in 0..<100 { group.addTask { await pool.run { number } } }
            return await group.reduce(0, +)
        }
        #expect(sum == 4950)
    }
}

private final class Asked: Sendable { let count = Atomic(0) }
