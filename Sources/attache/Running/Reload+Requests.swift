import Admin
import Bytes
import Credentials
import Glibc
import IO
import Model
import Synchronization
import Telemetry

extension Reload {
    /// The requested reloads of the rule file, and the result of the last one. The main thread does them.
    final class Requests: ReloadControl {
        private struct State {
            /// The number of the latest request.
            var asked = 0
            var actor: AuditEvent.Actor?
            /// Whether a pending request wants refused credentials tried again.
            var retries = false
            /// The number up to which all requests are done.
            var done = 0
            var outcome = ReloadOutcome.reloaded(lifted: nil)
            /// The time when the current rules were loaded.
            var loaded = SystemClock.wallTime
            var rejection: RunningStatus.Rejection?
            /// The numbers of reloads that succeeded and failed.
            var (successes, failures) = (0, 0)
        }

        private let state = Mutex(State())

        /// The time when the current rules were loaded, and the reason why a later reload was rejected.
        var standing: (loaded: WallTime, rejection: RunningStatus.Rejection?) {
            state.withLock { ($0.loaded, $0.rejection) }
        }

        func setFigures(on page: inout MetricsPage) {
            let (loaded, isRejected, successes, failures) = state.withLock {
                ($0.loaded, $0.rejection != nil, $0.successes, $0.failures)
            }
            page.set(.rulesLoadedTimestampSeconds, loaded.seconds)
            page.set(.rulesReloadFailed, isRejected ? 1 : 0)
            page.set(.rulesReloads, [("loaded", successes), ("rejected", failures)])
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

        /// Begins a reload. Later requests mean a later reload.
        ///
        /// - Parameter cause: the cause of the reload, if no command asked for it.
        /// - Returns: the number of its latest request, its sender, and whether refused credentials are tried again
        ///   afterwards.
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
                    state.loaded = SystemClock.wallTime
                    state.rejection = nil
                    state.successes += 1
                case .rejected(let reason):
                    state.failures += 1
                    state.rejection = (SystemClock.wallTime, reason)
                }
            }
        }
    }
}
