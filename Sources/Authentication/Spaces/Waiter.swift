import Synchronization

/// One request that waits for another's verdict.
public final class Waiter: Sendable {
    public enum Outcome: Sendable {
        case settled(Verdict)
        /// The leader gave up: now it is this request's turn.
        case lead(Lease)
        /// The wait was ended by `expire` or by cancellation.
        case expired
    }

    private enum State {
        /// Nobody awaits the outcome yet.
        case idle
        case waiting(CheckedContinuation<Outcome, Never>)
        /// The outcome is there to be taken.
        case resolved(Outcome)
        case taken
    }

    private let state = Mutex(State.idle)
    /// For whose verdict on what it waits; nil: on something else.
    private let shared: (key: SharedChallenge, leader: Int, underWay: ChallengesUnderWay)?

    init() { shared = nil }

    init(for key: SharedChallenge, behind leader: Int, in underWay: ChallengesUnderWay) {
        shared = (key, leader, underWay)
    }

    /// The outcome; to be awaited once. Without limit of time: a timer of the caller's calls `expire`.
    public func outcome() async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> Outcome? in
                    switch state {
                    case .idle:
                        state = .waiting(continuation)
                        return nil
                    case .resolved(let outcome):
                        state = .taken
                        return outcome
                    case .waiting, .taken: return .expired
                    }
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            expire()
        }
    }

    /// Ends the wait, from any thread; without effect when the outcome is there.
    public func expire() {
        _ = resolve(.expired)
    }

    /// Ends the wait as `expire`, and nobody waits for this leader from now on.
    public func overtake() {
        guard resolve(.expired), let shared else { return }
        shared.underWay.overtake(shared.key, leader: shared.leader)
    }

    /// Leads beside a leader that does not come to an end. Without effect when another one does already since this wait
    /// began: that one's verdict may be nearer.
    public func takeOver() {
        guard !isOver, let shared, let lease = shared.underWay.takeOver(shared.key, from: shared.leader) else { return }
        _ = resolve(.lead(lease))
    }

    /// Whether nobody awaits the outcome any more.
    var isOver: Bool {
        state.withLock { state in
            switch state {
            case .idle, .waiting: false
            case .resolved, .taken: true
            }
        }
    }

    /// Whether the waiter still wanted the outcome.
    func resolve(_ outcome: Outcome) -> Bool {
        let (isFirst, continuation) = state.withLock { state -> (Bool, CheckedContinuation<Outcome, Never>?) in
            switch state {
            case .idle:
                state = .resolved(outcome)
                return (true, nil)
            case .waiting(let continuation):
                state = .taken
                return (true, continuation)
            case .resolved, .taken: return (false, nil)
            }
        }
        continuation?.resume(returning: outcome)
        return isFirst
    }
}
