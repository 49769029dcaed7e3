import Dispatch
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

    @Test func `work does not stand behind other work while there are threads to be had`() async {
        for _ in 0..<200 {
            let pool = BlockingPool(threads: 2)
            await pool.run {}
            // The thread that waits now is woken for the first, and has not come to it when the second is there.
            let (isOpen, isThrough) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            pool.submit {
                isOpen.wait()
                isThrough.signal()
            }
            pool.submit { isOpen.signal() }
            guard isThrough.wait(timeout: .now() + 60) == .success else {
                Issue.record("the second was left lying")
                return
            }
        }
    }

    @Test func `work that is done is let go of while other work waits`() {
        final class Token: Sendable {}
        let pool = BlockingPool(threads: 1)
        let (isOpen, isThrough) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isGone = Atomic(false)
        var token: Token? = Token()
        weak let witness = token
        pool.submit { isOpen.wait() }
        pool.submit { [token] in withExtendedLifetime(token) {} }
        token = nil
        pool.submit {
            isGone.store(witness == nil, ordering: .relaxed)
            isThrough.signal()
        }
        pool.submit {}
        isOpen.signal()
        isThrough.wait()
        let wasGone = isGone.load(ordering: .relaxed)
        #expect(wasGone)
    }
}

private final class Asked: Sendable { let count = Atomic(0) }
