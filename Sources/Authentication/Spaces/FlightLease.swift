import Synchronization

/// The right to be the one request that is challenged, while others wait for the verdict.
///
/// Settle it as soon as the verdict is known, at the response's head. Dropping it unsettled (the request failed or was
/// cancelled) makes the next waiting request the leader.
public final class FlightLease: Sendable {
    /// The verdict on the request that was challenged for all.
    public enum Verdict: Sendable, Hashable {
        /// The request got no challenge.
        case open
        /// The answer was accepted: the space is known now.
        case accepted
        /// The request was challenged, and its answer was missing or refused.
        case unanswered
    }

    private enum State: Int, AtomicRepresentable {
        case held
        /// The lead passed to another request. The verdict on this one, if it comes, still counts.
        case released
        case settled
    }

    private let key: SingleFlight.Subject
    private let leader: Int
    private let underWay: SingleFlight
    private let state = Atomic<State>(.held)

    init(_ key: SingleFlight.Subject, leader: Int, in underWay: SingleFlight) {
        self.key = key
        self.leader = leader
        self.underWay = underWay
    }

    deinit { release() }

    /// Reports the verdict to all that wait. Only the first verdict counts.
    public func settle(_ verdict: Verdict) {
        guard state.exchange(.settled, ordering: .acquiringAndReleasing) != .settled else { return }
        underWay.end(key, verdict)
    }

    /// Lets the next waiting request lead, without waiting for the verdict.
    public func release() {
        let isHeld = state.compareExchange(expected: .held, desired: .released, ordering: .acquiringAndReleasing)
            .exchanged
        if isHeld { underWay.abandon(key, leader: leader) }
    }

    /// Ends a lease that no request took: the challenge is already over.
    func dissolve() {
        state.store(.settled, ordering: .relaxed)
    }
}
