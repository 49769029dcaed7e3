import Crypto
import Model
import Testing

@testable import Authentication

/// The leader and the waiters of a single flight, and the end of the wait.
@Suite struct SingleFlightTests {
    let spaces = ProtectionSpaces()
    let origin = Origin(host: "host.example", port: 80, protocol: .http)
    let version = Credential(name: "alice", user: "alice", password: Secret("a")).version

    private struct Unexpected: Error {}

    private func admit(_ target: String = "/") -> ProtectionSpaces.Admission {
        spaces.admit(to: origin, target: target.utf8Span.span, version: nil)
    }

    private func lead() throws -> FlightLease {
        guard case .lead(let lease) = admit() else { throw Unexpected() }
        return lease
    }

    private func wait() throws -> FlightWaiter {
        guard case .wait(let waiter) = admit() else { throw Unexpected() }
        return waiter
    }

    @Test func `nobody waits for a leader that one has waited for in vain`() async throws {
        let lease = try lead()
        let waiter = try wait()
        waiter.overtake()
        guard case .expired = await waiter.outcome() else { throw Unexpected() }
        guard case .overtake = admit() else { throw Unexpected() }
        lease.settle(.open)
        _ = try lead()
    }

    @Test func `a wait that was cancelled says nothing of its leader`() async throws {
        let lease = try lead()
        let (expired, cancelled) = (try wait(), try wait())
        expired.expire()
        guard case .expired = await expired.outcome() else { throw Unexpected() }
        let task = Task { await cancelled.outcome() }
        task.cancel()
        guard case .expired = await task.value else { throw Unexpected() }
        // Others still wait for the leader, which brings them the verdict.
        let waiter = try wait()
        #expect(!waiter.promise.isOver)
        lease.settle(.open)
        guard case .settled(.open) = await waiter.outcome() else { throw Unexpected() }
        _ = try lead()
    }

    @Test func `a response to another request is news for all, and the leader's end no loss to those who lead then`()
        async throws
    {
        var former: FlightLease? = try lead()
        let waiter = try wait()
        spaces.settle(origin, .open)
        guard case .settled(.open) = await waiter.outcome() else { throw Unexpected() }
        let lease = try lead()
        let later = try wait()
        _ = former
        former = nil
        lease.settle(.accepted)
        guard case .settled(.accepted) = await later.outcome() else { throw Unexpected() }
    }

    @Test func `one of those who wait takes over, and the first verdict counts for the others`() async throws {
        let lease = try lead()
        let (first, second) = (try wait(), try wait())
        first.takeOver()
        guard case .lead(let other) = await first.outcome() else { throw Unexpected() }
        second.takeOver()
        #expect(!second.promise.isOver, "a second one took over at once")
        lease.settle(.accepted)
        guard case .settled(.accepted) = await second.outcome() else { throw Unexpected() }
        other.settle(.unanswered)
        #expect((try? lead()) != nil)
    }

    @Test func `a leader may hand over and still bring the verdict`() async throws {
        let lease = try lead()
        let (first, second) = (try wait(), try wait())
        lease.release()
        guard case .lead(let next) = await first.outcome() else { throw Unexpected() }
        lease.settle(.unanswered)
        guard case .settled(.unanswered) = await second.outcome() else { throw Unexpected() }
        next.settle(.accepted)
    }

    @Test func `those who have gone take no room behind a leader that does not come to its end`() {
        var waiters: [FlightWaiter] = []
        for _ in 0..<100_000 {
            let waiter = FlightWaiter()
            waiters.appendForgetting(waiter)
            waiter.expire()
        }
        #expect(waiters.capacity < 1000)
    }
}
