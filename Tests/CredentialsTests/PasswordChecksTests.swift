import Bytes
import Dispatch
import IO
import Synchronization
import TestSupport
import Testing

@testable import Credentials

@Suite struct PasswordChecksTests {
    /// Records checks in their order. The first two wait until they are released: there are two threads. While one of
    /// them waits, the other thread does all other checks, so that the order is that of the queue.
    private final class Bench: Sendable {
        let checks = PasswordChecks(on: BlockingPool(threads: 2))
        let begun = Mutex<[Int]>([])
        let verdicts = Mutex<[Int: PasswordVerdict]>([:])
        private let gates = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]

        /// Occupies both threads with wrong passwords of unknown users, from `address` and the next.
        func occupy(_ loop: EventLoop, from address: UInt32) async {
            for place in 0..<2 as Range<UInt32> {
                let client = PlayedClient(on: loop, at: IPAddress(v4: address + place))
                loop.spawn {
                    let code = 9000 + Int(place)
                    _ = await self.checks.check(UInt128(code), of: UInt128(code), for: client.waiting) {
                        self.begun.withLock { $0.append(code) }
                        self.gates[Int(place)].wait()
                        return false
                    }
                }
            }
            while begun.withLock({ !$0.contains(9000) || !$0.contains(9001) }) { await PlayedClient.pause() }
        }

        /// Lets the one thread go on until so many verdicts are there, and then the other.
        func open(until count: Int) async {
            gates[0].signal()
            await awaitVerdicts(count)
            gates[1].signal()
        }

        func login(_ pair: Int, of user: Int, _ client: PlayedClient, _ loop: EventLoop, isRight: Bool) {
            loop.spawn {
                let verdict = await self.checks.check(UInt128(pair), of: UInt128(user), for: client.waiting) {
                    self.begun.withLock { $0.append(pair) }
                    return isRight
                }
                self.verdicts.withLock { $0[pair] = verdict }
            }
        }

        func awaitVerdicts(_ count: Int) async {
            while verdicts.withLock({ $0.count }) < count { await PlayedClient.pause() }
        }
    }

    private static let attacker: UInt32 = 0x0A00_0001

    @Test func `a client that asks after a change does not get the answer of a check that began before`() async throws {
        let checks = PasswordChecks(on: BlockingPool(threads: 2))
        let verdicts = try await onLoop { loop in
            let (early, late) = (PlayedClient(on: loop), PlayedClient(on: loop))
            let hasBegun = DispatchSemaphore(value: 0)
            async let first = checks.check(1, of: 1, for: early.waiting) {
                checks.forget()
                hasBegun.signal()
                return true
            }
            await BlockingPool.shared.run { hasBegun.wait() }
            async let second = checks.check(1, of: 1, for: late.waiting) { false }
            return await [first, second]
        }
        #expect(verdicts == [.right, .wrong])
        #expect(checks.outcome(of: 1) == false)
    }

    @Test func `a second of wrong logins by clients that leave delays a right login by no check`() async throws {
        let bench = Bench()
        try await onLoop { loop in
            await bench.occupy(loop, from: Self.attacker)
            for number in 0..<4000 {
                let client = PlayedClient(on: loop, at: IPAddress(v4: Self.attacker))
                bench.login(100_000 + number, of: number, client, loop, isRight: false)
                client.leave()
            }
            await bench.awaitVerdicts(4000)
            bench.login(1, of: 1, PlayedClient(on: loop), loop, isRight: true)
            await PlayedClient.pause()
            await bench.open(until: 4001)
        }
        #expect(bench.begun.withLock { $0.dropFirst(2) } == [1])
        #expect(bench.verdicts.withLock { $0[1] } == .right)
    }

    @Test func `an address that fills the queue delays another's login by one check, and is told to come back`()
        async throws
    {
        let bench = Bench()
        try await onLoop { loop in
            await bench.occupy(loop, from: Self.attacker)
            for number in 0..<1000 {
                let client = PlayedClient(on: loop, at: IPAddress(v4: Self.attacker))
                bench.login(100_000 + number, of: number + 10, client, loop, isRight: false)
            }
            await bench.awaitVerdicts(1000 - PasswordChecks.capacity)
            bench.login(1, of: 1, PlayedClient(on: loop), loop, isRight: true)
            await bench.awaitVerdicts(1000 - PasswordChecks.capacity + 1)
            await bench.open(until: 1001)
        }
        let begun = bench.begun.withLock { $0 }
        #expect(begun[2...3].contains(1))
        #expect(begun.count == 2 + PasswordChecks.capacity)
        #expect(bench.verdicts.withLock { $0.values.count { if case .busy = $0 { true } else { false } } } > 800)
    }

    /// All come from one address, like that of a machine with many users, or of a sidecar.
    @Test func `a password that was right before the accounts changed is checked next`() async throws {
        let bench = Bench()
        try await onLoop { loop in
            bench.login(1, of: 1, PlayedClient(on: loop), loop, isRight: true)
            await bench.awaitVerdicts(1)
            bench.checks.forget()
            #expect(bench.checks.outcome(of: 1) == nil)
            await bench.occupy(loop, from: 0x7F00_0001)
            // Wrong passwords of the same user, from the same address.
            for number in 0..<200 {
                bench.login(100_000 + number, of: 1, PlayedClient(on: loop), loop, isRight: false)
            }
            await PlayedClient.pause()
            bench.login(1, of: 1, PlayedClient(on: loop), loop, isRight: true)
            await PlayedClient.pause()
            await bench.open(until: 201)
        }
        #expect(bench.begun.withLock { $0[3...4].contains(1) })
    }

    @Test func `a new password of somebody who has logged in from there goes before strangers'`() async throws {
        let bench = Bench()
        try await onLoop { loop in
            bench.login(1, of: 1, PlayedClient(on: loop), loop, isRight: true)
            await bench.awaitVerdicts(1)
            bench.checks.forget()
            await bench.occupy(loop, from: Self.attacker)
            for number in 0..<100 {
                bench.login(100_000 + number, of: 10 + number, PlayedClient(on: loop), loop, isRight: false)
            }
            await PlayedClient.pause()
            bench.login(2, of: 1, PlayedClient(on: loop), loop, isRight: true)
            await PlayedClient.pause()
            await bench.open(until: 102)
        }
        #expect(bench.begun.withLock { $0[3] } == 2)
    }
}
