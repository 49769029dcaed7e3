/// One request that waits for another's verdict.
public final class Waiter: Sendable {
    public enum Outcome: Sendable {
        case settled(Verdict)
        /// The leader gave up: now it is this request's turn.
        case lead(Lease)
        /// The wait was ended by `expire` or by cancellation.
        case expired
    }

    private let promise = Promise<Outcome>()
    /// For whose verdict on what it waits; nil: on something else.
    private let shared: (key: SharedChallenge, leader: Int, underWay: ChallengesUnderWay)?

    init() { shared = nil }

    init(for key: SharedChallenge, behind leader: Int, in underWay: ChallengesUnderWay) {
        shared = (key, leader, underWay)
    }

    /// The outcome; to be awaited once. Without limit of time: a timer of the caller's calls `expire`.
    public func outcome() async -> Outcome { await promise.value() ?? .expired }

    /// Ends the wait, from any thread; without effect when the outcome is there.
    public func expire() { promise.expire() }

    /// Ends the wait as `expire`, and nobody waits for this leader from now on.
    public func overtake() {
        guard promise.keep(.expired), let shared else { return }
        shared.underWay.overtake(shared.key, leader: shared.leader)
    }

    /// Leads beside a leader that does not come to an end. Without effect when another one does already since this wait
    /// began: that one's verdict may be nearer.
    public func takeOver() {
        guard !isOver, let shared, let lease = shared.underWay.takeOver(shared.key, from: shared.leader) else { return }
        _ = resolve(.lead(lease))
    }

    /// Whether the outcome was delivered, or the wait ended.
    var isOver: Bool { promise.isOver }

    /// Whether the waiter still wanted the outcome.
    func resolve(_ outcome: Outcome) -> Bool { promise.keep(outcome) }
}
