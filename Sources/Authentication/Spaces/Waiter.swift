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
    private let flight: (key: FlightKey, leader: Int, flights: Flights)?

    init() { flight = nil }

    init(for key: FlightKey, behind leader: Int, in flights: Flights) { flight = (key, leader, flights) }

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
        guard resolve(.expired), let flight else { return }
        flight.flights.overtake(flight.key, leader: flight.leader)
    }

    /// Leads beside a leader that does not come to an end. Without effect when another one does already since this wait
    /// began: that one's verdict may be nearer.
    public func takeOver() {
        guard !isOver, let flight, let lease = flight.flights.takeOver(flight.key, from: flight.leader) else { return }
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
