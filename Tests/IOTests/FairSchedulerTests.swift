import Bytes
import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import IO

struct FairSchedulerTests {
    private typealias Work = FairScheduler<Int, Int>

    /// Records the work in its order; the first piece waits until it is released.
    private final class Bench: Sendable {
        let work: FairScheduler<Int, Int>
        let done = Mutex<[Int]>([])
        let outcomes = Mutex<[Int: FairScheduler<Int, Int>.Outcome]>([:])
        private let gate = DispatchSemaphore(value: 0)

        init(waiting: Int) { work = FairScheduler(on: BlockingPool(threads: 1), threads: 1, waiting: waiting) }

        /// Occupies the only thread until `open`.
        func occupy(_ loop: EventLoop) async {
            let client = PlayedClient(on: loop)
            loop.spawn {
                _ = await self.work.run(-1, for: client.waiting) {
                    self.done.withLock { $0.append(-1) }
                    self.gate.wait()
                    return -1
                }
            }
            while done.withLock({ $0.isEmpty }) { await PlayedClient.pause() }
        }

        func open() { gate.signal() }

        /// - Parameter number: the client's, as its outcome is kept under.
        func ask(_ key: Int, _ client: PlayedClient, number: Int, _ loop: EventLoop) {
            loop.spawn {
                let outcome = await self.work.run(key, for: client.waiting) {
                    self.done.withLock { $0.append(key) }
                    return key
                }
                self.outcomes.withLock { $0[number] = outcome }
            }
        }

        func awaitOutcomes(_ count: Int) async {
            while outcomes.withLock({ $0.count }) < count { await PlayedClient.pause() }
        }

        var isBusy: [Int] {
            outcomes.withLock { $0.filter { if case .refused = $0.value { true } else { false } }.keys.sorted() }
        }
    }

    @Test func `the work of clients that have left is not done, and takes no room`() async throws {
        let bench = Bench(waiting: 8)
        try await onLoop { loop in
            await bench.occupy(loop)
            for round in 0..<50 {
                let leaving = (0..<8).map { _ in PlayedClient(on: loop) }
                for (place, client) in leaving.enumerated() {
                    bench.ask(round * 8 + place, client, number: round * 8 + place, loop)
                }
                await PlayedClient.pause()
                for client in leaving { client.leave() }
                await bench.awaitOutcomes((round + 1) * 8)
            }
            bench.ask(1000, PlayedClient(on: loop), number: 1000, loop)
            await PlayedClient.pause()
            bench.open()
            await bench.awaitOutcomes(401)
        }
        #expect(bench.done.withLock { $0 } == [-1, 1000])
        #expect(bench.isBusy.isEmpty)
    }

    @Test func `clients that want the same share it, as long as one of them is there`() async throws {
        let bench = Bench(waiting: 8)
        try await onLoop { loop in
            await bench.occupy(loop)
            let clients = (0..<20).map { _ in PlayedClient(on: loop) }
            for (number, client) in clients.enumerated() { bench.ask(1, client, number: number, loop) }
            await PlayedClient.pause()
            for client in clients.dropLast() { client.leave() }
            await bench.awaitOutcomes(19)
            bench.open()
            await bench.awaitOutcomes(20)
        }
        #expect(bench.done.withLock { $0 } == [-1, 1])
        guard case .done(1) = bench.outcomes.withLock({ $0[19] }) else {
            Issue.record("who stayed has no answer")
            return
        }
    }

    @Test func `one too many is told to come back, and another address takes room from whoever has the most`()
        async throws
    {
        let bench = Bench(waiting: 4)
        try await onLoop { loop in
            await bench.occupy(loop)
            let crowd = (0..<5).map { _ in PlayedClient(on: loop) }
            for (number, client) in crowd.enumerated() { bench.ask(number, client, number: number, loop) }
            await bench.awaitOutcomes(1)
            #expect(bench.isBusy == [4])
            bench.ask(10, PlayedClient(on: loop, at: IPAddress(v4: 0x0A00_0001)), number: 10, loop)
            await bench.awaitOutcomes(2)
            #expect(bench.isBusy == [3, 4])
            for client in crowd { client.leave() }
            bench.open()
            await bench.awaitOutcomes(6)
        }
        #expect(bench.done.withLock { $0.contains(10) })
    }

    @Test func `addresses of one IPv6 network are one`() async throws {
        let networks = try await onLoop { loop in
            [1, 2].map { low in
                PlayedClient(on: loop, at: IPAddress(v6High: 0x2001_0DB8_0000_0001, low: low)).waiting.network
            }
        }
        #expect(networks[0] == networks[1])
    }
}
