import Bytes
import IO
import Synchronization
import TestSupport
import Testing

@Suite struct EventLoopTests {
    @Test func `a task stays on its loop through every suspension`() async throws {
        let stayed = try await onLoop { loop in
            var stayed = loop.isCurrent
            await Task.yield()
            stayed = stayed && loop.isCurrent
            _ = await BlockingPool.shared.run { 1 }
            stayed = stayed && loop.isCurrent
            return stayed && EventLoop.current === loop
        }
        #expect(stayed)
        #expect(EventLoop.current == nil)
    }

    @Test func `work from many threads arrives exactly once`() async throws {
        let loop = try EventLoop(index: 0)
        loop.start()
        let tally = Tally()
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<1000 {
                        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                            loop.submit {
                                tally.count.add(1, ordering: .relaxed)
                                continuation.resume()
                            }
                        }
                    }
                }
            }
        }
        #expect(tally.count.load(ordering: .relaxed) == 8000)
    }

    @Test func `a task that never waits does not keep the loop from its events`() async throws {
        let loop = try EventLoop(index: 0)
        loop.start()
        let (turns, ends) = (Tally(), Tally())
        let task = loop.spawn {
            while ends.count.load(ordering: .relaxed) == 0 {
                turns.count.add(1, ordering: .relaxed)
                await Task.yield()
            }
        }
        #expect(Wait.until { turns.count.load(ordering: .relaxed) > 100 })
        loop.submit { ends.count.add(1, ordering: .relaxed) }
        await task.value
    }

    @Test func `the blocking pool answers every caller with its own value`() async {
        let pool = BlockingPool(threads: 3)
        let sum = await withTaskGroup { group in
            for number in 0..<200 { group.addTask { await pool.run { number } } }
            return await group.reduce(0, +)
        }
        #expect(sum == 19_900)
    }

    /// Runs `body` on a thread that runs no tasks.
    private func byHand<Value: Sendable>(_ body: @escaping @Sendable (EventLoop, ManualClock) -> Value) async throws
        -> Value
    {
        let end = Expectation<Result<Value, IOError>>()
        let hasThread = SystemThread.start(name: "by hand") {
            let clock = ManualClock(start: 5000)
            do throws(IOError) {
                let loop = try EventLoop(index: 0, clock: clock)
                end.fulfil(.success(loop.occupyThread { body(loop, clock) }))
            } catch { end.fulfil(.failure(error)) }
        }
        try #require(hasThread)
        return try #require(await end.value(within: nil)).get()
    }

    @Test func `a loop that is driven by hand goes by the time that it is given`() async throws {
        let rung = try await byHand { loop, clock in
            var rung: [WallTime] = []
            let alarms = [2000, 100].map { milliseconds in
                let alarm = Alarm(on: loop) { rung.append(loop.wallTime) }
                alarm.set(after: Milliseconds(milliseconds))
                return alarm
            }
            for step: Milliseconds in [50, 50, 1000, 900] {
                clock.advance(by: step)
                _ = loop.runUntilIdle(within: 0)
            }
            return withExtendedLifetime(alarms) { rung }
        }
        #expect(rung == [5100, 7000])
    }

    /// The wheel's slots are of 50 ms, and a turn of it is of 25.6 s.
    @Test func `a loop sleeps until the slot of its next deadline, wherever that stands on the wheel`() async throws {
        let wrong = try await byHand { loop, clock in
            var random = Numbers(seed: 7)
            var wrong: [String] = []
            var ends: [Int: WallTime] = [:]
            let alarms = (0..<5).map { index in Alarm(on: loop) { ends[index] = nil } }
            for _ in 0..<3000 {
                let (now, index) = (loop.wallTime, random.next(below: alarms.count))
                if ends[index] == nil {
                    let milliseconds = 1 + random.next(below: random.next(below: 2) == 0 ? 3000 : 25_000)
                    alarms[index].set(after: Milliseconds(milliseconds))
                    ends[index] = now + Milliseconds(milliseconds)
                }
                if let next = ends.values.min() {
                    let (time, expected) = (loop.timeToNextDeadline?.count ?? -1, (next - now).count)
                    if abs(time - expected) > 50 { wrong.append("\(time) ms instead of \(expected)") }
                }
                clock.advance(by: Milliseconds(random.next(below: 5) == 0 ? 30_000 : random.next(below: 400)))
                _ = loop.runUntilIdle(within: 0)
                let late = ends.values.filter { $0 + 50 <= loop.wallTime }
                if !late.isEmpty { wrong.append("\(late) have not rung at \(loop.wallTime)") }
            }
            return withExtendedLifetime(alarms) { wrong }
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(5))")
    }

    @Test func `a loop that is driven by hand is idle once its tasks and their work on other threads have ended`()
        async throws
    {
        let (isIdle, result) = try await byHand { loop, _ in
            let result = Tally()
            loop.spawn {
                for _ in 0..<20 {
                    await Task.yield()
                    let one = await BlockingPool.shared.run { 1 }
                    result.count.add(one, ordering: .relaxed)
                }
            }
            return (loop.runUntilIdle(within: 60_000), result.count.load(ordering: .relaxed))
        }
        #expect(isIdle)
        #expect(result == 20)
    }

    @Test func `alarms ring in the order of their deadlines, far ones included`() async throws {
        let order = try await onLoop { loop in
            let wakeup = Wakeup()
            let rung = Order()
            var alarms: [Alarm] = []
            for milliseconds in [400, 120, 260, 60] {
                let alarm = Alarm(on: loop) {
                    rung.list.append(milliseconds)
                    wakeup.signal()
                }
                alarm.set(after: Milliseconds(milliseconds))
                alarms.append(alarm)
            }
            let cancelled = Alarm(on: loop) { rung.list.append(-1) }
            cancelled.set(after: 80)
            cancelled.cancel()
            // Moved closer after it was filed a whole turn of the wheel away.
            let moved = Alarm(on: loop) { rung.list.append(500) }
            moved.set(after: 40_000)
            moved.set(after: 330)
            while rung.list.count < 5 { await wakeup.wait() }
            return rung.list
        }
        #expect(order == [60, 120, 260, 500, 400])
    }
}

/// A generator with the same numbers in every run.
private struct Numbers {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next(below limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % limit
    }
}

private final class Tally: Sendable { let count = Atomic(0) }

private final class Order { var list: [Int] = [] }
