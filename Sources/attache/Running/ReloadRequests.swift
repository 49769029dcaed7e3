import Admin
import Credentials
import Glibc
import IO
import Synchronization
import Telemetry

/// The reloads of the rule file: those that were asked for, and what came of the last. The main thread does them.
final class ReloadRequests: ReloadControl {
    private struct State {
        /// The number of the last one that was asked for.
        var asked = 0
        var actor: AuditEvent.Actor?
        /// Whether one of those that are not done yet wants refused credentials tried again.
        var retries = false
        /// All up to this one are done.
        var done = 0
        var outcome = ReloadOutcome.reloaded(lifted: nil)
        /// When the rules at work were loaded, in milliseconds since 1970.
        var loaded = SystemClock.epochMilliseconds
        var rejection: RunningStatus.Rejection?
        /// How many were put to use, and how many not.
        var (successes, failures) = (0, 0)
    }

    private let state = Mutex(State())

    /// When the rules at work were loaded, and why others behind them were not put to use.
    var standing: (loaded: Int, rejection: RunningStatus.Rejection?) {
        state.withLock { ($0.loaded, $0.rejection) }
    }

    var figures: RunningFigures.Reloads {
        state.withLock { state in
            RunningFigures.Reloads(
                lastSuccess: state.loaded, hasFailed: state.rejection != nil, loaded: state.successes,
                rejected: state.failures)
        }
    }

    func request(by actor: AuditEvent.Actor, retrying retries: Bool) -> Int {
        let number = state.withLock { state in
            state.asked += 1
            state.actor = actor
            if retries { state.retries = true }
            return state.asked
        }
        // The main thread waits for signals.
        kill(getpid(), SIGHUP)
        return number
    }

    func outcome(of number: Int) -> ReloadOutcome? { state.withLock { $0.done >= number ? $0.outcome : nil } }

    /// A reload begins. Those who ask from now on mean a later one.
    ///
    /// - Parameter cause: of the reload, if no command has asked for it.
    /// - Returns: the last one that it is for, who has asked for it, and whether refused credentials are tried again behind it.
    func begin(for cause: AuditEvent.Actor) -> (number: Int, actor: AuditEvent.Actor, retries: Bool) {
        state.withLock { state in
            defer { (state.actor, state.retries) = (nil, false) }
            return (state.asked, state.actor ?? cause, state.retries)
        }
    }

    func end(_ number: Int, _ outcome: ReloadOutcome) {
        state.withLock { state in
            state.done = number
            state.outcome = outcome
            switch outcome {
            case .reloaded:
                state.loaded = SystemClock.epochMilliseconds
                state.rejection = nil
                state.successes += 1
            case .rejected(let reason):
                state.failures += 1
                state.rejection = RunningStatus.Rejection(time: SystemClock.epochMilliseconds, reason: reason)
            }
        }
    }
}
