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
