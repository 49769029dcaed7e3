import Authentication
import Bytes
import Crypto
import IO
import Model
import TestSupport
import Testing

@testable import Challenges

struct FlightTurnTests {
    private static let origin = PlayedRequest.origin
    private static let answer = Answer(
        space: ProtectionSpace(origin: origin, realm: "r", authenticationMethod: .basic), challenge: nil,
        credential: Credential(name: "a", user: "u", password: Secret("p")))

    private static func target() -> ByteBuffer {
        let target = ByteBuffer(capacity: 8)
        target.append("/a" as StaticString)
        return target
    }

    @Test func `the first request brings news, and the second waits until they are told`() async throws {
        let found = try await onLoop { loop in
            let (spaces, target) = (ProtectionSpaces(), Self.target())
            var first = FlightTurn()
            await first.awaitNews(of: Self.origin, target: target, in: spaces, on: loop)
            #expect(first.bringsNews)
            let waiting = Task(executorPreference: loop) {
                var turn = FlightTurn()
                await turn.awaitNews(of: Self.origin, target: Self.target(), in: spaces, on: loop)
                return !turn.bringsNews
            }
            await Task.yield()
            first.settle(.accepted, at: Self.origin, in: spaces, isBrokenOff: false)
            #expect(!first.bringsNews)
            return await waiting.value
        }
        #expect(found)
    }

    @Test func `a request that is broken off leaves the lead to the next`() async throws {
        let leads = try await onLoop { loop in
            let spaces = ProtectionSpaces()
            var first = FlightTurn()
            let isInTime = await first.awaitVerdict(on: Self.answer, in: spaces, within: 60_000, on: loop)
            #expect(isInTime && first.lease != nil)
            let waiting = Task(executorPreference: loop) {
                var turn = FlightTurn()
                let isInTime = await turn.awaitVerdict(on: Self.answer, in: spaces, within: 60_000, on: loop)
                return isInTime && turn.lease != nil && !turn.hasWaitedInVain
            }
            await Task.yield()
            first.settle(.accepted, at: Self.origin, in: spaces, isBrokenOff: true)
            return await waiting.value
        }
        #expect(leads)
    }

    @Test func `a request that waited in vain still knows when it leads itself`() async throws {
        let found = try await onLoop { loop in
            let spaces = ProtectionSpaces()
            var first = FlightTurn()
            _ = await first.awaitVerdict(on: Self.answer, in: spaces, within: 60_000, on: loop)
            let waiting = Task(executorPreference: loop) {
                var turn = FlightTurn()
                _ = await turn.awaitVerdict(on: Self.answer, in: spaces, within: 60_000, on: loop)
                let afterVerdict = (turn.hasWaitedInVain, turn.lease == nil)
                _ = await turn.awaitVerdict(on: Self.answer, in: spaces, within: 60_000, on: loop)
                return afterVerdict == (true, true) && turn.hasWaitedInVain && turn.lease != nil
            }
            await Task.yield()
            first.settle(.unanswered, at: Self.origin, in: spaces, isBrokenOff: false)
            return await waiting.value
        }
        #expect(found)
    }

    @Test func `a wait for a verdict that does not come ends with the lead beside the first, or in vain`() async throws
    {
        let isEither = try await onLoop { loop in
            let spaces = ProtectionSpaces()
            var first = FlightTurn()
            _ = await first.awaitVerdict(on: Self.answer, in: spaces, within: 60_000, on: loop)
            var second = FlightTurn()
            let isInTime = await second.awaitVerdict(on: Self.answer, in: spaces, within: 20, on: loop)
            withExtendedLifetime(first) {}
            return isInTime == (second.lease != nil) && second.hasWaitedInVain == !isInTime
        }
        #expect(isEither)
    }
}
