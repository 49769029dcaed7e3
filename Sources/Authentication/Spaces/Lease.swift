import Synchronization

/// The right to be the one request that is challenged, while others wait for what comes of it.
///
/// It must be settled as soon as the verdict is known, which is at the response's head. Dropping it unsettled (the
/// request failed or was cancelled) makes the next one that waits the leader.
public final class Lease: Sendable {
    private enum State: Int, AtomicRepresentable {
        case held
        /// Another leads. The verdict, should there be one yet, still counts.
        case released
        case settled
    }

    private let key: SharedChallenge
    private let leader: Int
    private let underWay: ChallengesUnderWay
    private let state = Atomic<State>(.held)

    init(_ key: SharedChallenge, leader: Int, in underWay: ChallengesUnderWay) {
        self.key = key
        self.leader = leader
        self.underWay = underWay
    }

    deinit { release() }

    /// Tells everyone who waits. Only the first verdict counts.
    public func settle(_ verdict: Verdict) {
        guard state.exchange(.settled, ordering: .acquiringAndReleasing) != .settled else { return }
        underWay.end(key, verdict)
    }

    /// Lets the next that waits lead, without waiting for the verdict.
    public func release() {
        let isHeld = state.compareExchange(expected: .held, desired: .released, ordering: .acquiringAndReleasing)
            .exchanged
        if isHeld { underWay.abandon(key, leader: leader) }
    }

    /// For a lease that found no taker: the challenge is over already.
    func dissolve() {
        state.store(.settled, ordering: .relaxed)
    }
}

/// The result of the request that was challenged for all.
public enum Verdict: Sendable, Hashable {
    /// It was not challenged.
    case open
    /// Its answer was accepted: the space is known now.
    case accepted
    /// It was challenged and not answered, or refused.
    case unanswered
}
