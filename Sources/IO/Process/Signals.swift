import CLinux
import Glibc

/// Signals, read by the main thread like messages. Every other thread has them blocked.
public enum Signals {
    public enum Event: Equatable, Sendable {
        /// SIGTERM or SIGINT: finish what runs, take nothing new.
        case terminate
        /// SIGHUP: read the rule file again. By that user of the machine; nil: nobody knows by whom.
        case reload(by: UInt32?)
        /// SIGUSR1: open the log anew, as its file was renamed.
        case reopen
        /// Nothing came in the time given.
        case quiet
    }

    /// Blocks the signals for this thread and all it starts. To be called before any thread is started; a process
    /// that is PID 1 ignores a signal for which it does nothing.
    public static func block() {
        var set = handled
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // The call itself reports a file that may grow no more and a pipe without a reader.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Waits for the next signal, at most `milliseconds`.
    public static func next(within milliseconds: Int) -> Event {
        var set = handled
        var limit = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
        var information = siginfo_t()
        switch sigtimedwait(&set, &information, &limit) {
        case SIGTERM, SIGINT: return .terminate
        case SIGHUP:
            // The kernel itself sends it when a terminal goes.
            return .reload(by: information.si_code <= 0 ? information._sifields._kill.si_uid : nil)
        case SIGUSR1: return .reopen
        default: return .quiet
        }
    }

    private static var handled: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in [SIGTERM, SIGINT, SIGHUP, SIGUSR1] { sigaddset(&set, signal) }
        return set
    }
}
