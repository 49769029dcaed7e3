/// One request that waits for another's verdict.
public final class FlightWaiter: Sendable {
    public enum Outcome: Sendable {
        case settled(FlightLease.Verdict)
        /// The leader gave up: this request leads now.
        case lead(FlightLease)
        /// The wait was ended by `expire` or by cancellation.
        case expired
    }

    let promise = Promise<Outcome>()
    /// The challenge and the leader whose verdict it waits for; nil: it waits for another event.
    private let shared: (key: SingleFlight.Subject, leader: Int, underWay: SingleFlight)?

    init() { shared = nil }

    init(for key: SingleFlight.Subject, behind leader: Int, in underWay: SingleFlight) {
        shared = (key, leader, underWay)
    }

    /// The outcome; await it once. There is no time limit: a timer of the caller calls `expire`.
    public func outcome() async -> Outcome { await promise.value() ?? .expired }

    /// Ends the wait, from any thread; no effect if the outcome is there.
    public func expire() { promise.expire() }

    /// Ends the wait like `expire`, and makes no other request wait for this leader.
    public func overtake() {
        guard promise.keep(.expired), let shared else { return }
        shared.underWay.overtake(shared.key, leader: shared.leader)
    }

    /// Leads beside a leader that takes too long. No effect if another request did so since this wait began: its
    /// verdict may come sooner.
    public func takeOver() {
        guard !promise.isOver, let shared, let lease = shared.underWay.takeOver(shared.key, from: shared.leader)
        else { return }
        promise.keep(.lead(lease))
    }
}
