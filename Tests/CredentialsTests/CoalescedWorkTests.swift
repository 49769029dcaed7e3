import Bytes
import IO
import Synchronization
import Testing

@testable import Credentials

struct CoalescedWorkTests {
    private final class Counts: Sendable {
        let began = Mutex(0)
        let done = Mutex(0)
        let isOpen = Mutex(false)

        func next() -> Int {
            done.withLock { done in
                done += 1
                return done
            }
        }
    }

    @Test func `clients that ask for the same at the same time get the answer of one`() async {
        let work = CoalescedWork<String, Int>(on: BlockingPool(threads: 2))
        let counts = Counts()
        let answers = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    counts.began.withLock { $0 += 1 }
                    return await work.run("a") {
                        while !counts.isOpen.withLock({ $0 }) { Pause.take(1) }
                        return counts.next()
                    } ?? 0
                }
            }
            group.addTask {
                while counts.began.withLock({ $0 }) < 16 { await Task.yield() }
                // Another key is other work, and waits for none.
                let other = await work.run("b") { 100 } ?? 0
                counts.isOpen.withLock { $0 = true }
                return other
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count == 17)
        #expect(answers.filter { $0 == 100 }.count == 1)
        // Who had said that it would ask, and had not yet, may have had it done again.
        #expect(counts.done.withLock { $0 } <= 2)
    }

    @Test func `work that is over is done anew for the next client`() async {
        let work = CoalescedWork<Int, Int>(on: BlockingPool(threads: 1))
        let counts = Counts()
        #expect(await work.run(1) { counts.next() } == 1)
        #expect(await work.run(1) { counts.next() } == 2)
    }

    @Test func `one client waits for slow work, which is not begun again, and counts when it is there`() throws {
        let (counts, pool) = (Counts(), BlockingPool(threads: 1))
        let work = CoalescedWork<Int, Int>(on: pool)
        let answers = try BlockingTask.run { _ in
            let slow = { @Sendable () -> Int in
                while !counts.isOpen.withLock({ $0 }) { Pause.take(1) }
                return counts.next()
            }
            let first = await work.run(1, within: 20, slow)
            // These would wait for ever.
            let second = await work.run(1, slow)
            let isOverdue = work.isOverdue(1)
            // The only thread is busy: the work's turn comes when its waiters have left.
            let behind = await work.run(2, within: 20) { counts.next() }
            counts.isOpen.withLock { $0 = true }
            while work.isOverdue(1) || work.isOverdue(2) { await Task.yield() }
            let last = await work.run(1, slow)
            return ([first, second, behind, last], isOverdue)
        }
        #expect(answers.0 == [nil, nil, nil, 2])
        #expect(answers.1)
        #expect(counts.done.withLock { $0 } == 2)
    }

    @Test func `one piece of work too many is not begun`() throws {
        let counts = Counts()
        let work = CoalescedWork<Int, Int>(on: BlockingPool(threads: 1), capacity: 2)
        let answers = try BlockingTask.run { _ in
            async let first = work.run(1) {
                while !counts.isOpen.withLock({ $0 }) { Pause.take(1) }
                return 1
            }
            async let second = work.run(2) { 2 }
            while !work.isUnderWay(1) || !work.isUnderWay(2) { await BlockingPool.shared.run { Pause.take(1) } }
            let third = await work.run(3) { 3 }
            counts.isOpen.withLock { $0 = true }
            let both = await [first, second]
            return both + [third, await work.run(3) { 3 }]
        }
        #expect(answers == [1, 2, nil, 3])
    }

    @Test func `waits for one realm's KDCs delay no other realm`() {
        #expect(KerberosTickets.Threads.pool(for: "alice@A.TEST") === KerberosTickets.Threads.pool(for: "bob@A.TEST"))
        #expect(KerberosTickets.Threads.pool(for: "alice@A.TEST") !== KerberosTickets.Threads.pool(for: "alice@B.TEST"))
        #expect(KerberosTickets.Threads.pool(for: "alice") !== KerberosTickets.Threads.pool(for: "alice@A.TEST"))
    }
}
