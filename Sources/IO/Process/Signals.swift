import Bytes
import CLinux
import Glibc

/// Signals, which the main thread reads like messages. Every other thread blocks them.
public enum Signals {
    public enum Event: Equatable, Sendable {
        /// SIGTERM or SIGINT: finish current work, accept no new work.
        case terminate
        /// SIGHUP: read the rule file again. It names the user of the machine who sent it; nil if unknown.
        case reload(by: UInt32?)
        /// SIGUSR1: reopen the log, since its file was renamed.
        case reopen
        /// No signal arrived in the given time.
        case quiet
    }

    /// Blocks the signals for this thread and all threads that it starts. Call it before any thread is started. The
    /// kernel discards signals to PID 1 that it does not handle.
    public static func block() {
        var set = handled
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // The write call itself reports a file at its size limit, or a pipe without a reader.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Waits for the next signal.
    public static func next(within time: Milliseconds) -> Event {
        var set = handled
        var limit = timespec(tv_sec: time.seconds, tv_nsec: time.count % 1000 * 1_000_000)
        var information = siginfo_t()
        switch sigtimedwait(&set, &information, &limit) {
        case SIGTERM, SIGINT: return .terminate
        case SIGHUP:
            // The kernel sends it when a terminal is closed.
            return .reload(by: information.si_code <= 0 ? information._sifields._kill.si_uid : nil)
        case SIGUSR1: return .reopen
        default: return .quiet
        }
    }

    private static var handled: sigset_t { sigset_t(of: [SIGTERM, SIGINT, SIGHUP, SIGUSR1]) }
}

extension sigset_t {
    /// The set of these signals.
    init(of signals: [Int32]) {
        self.init()
        sigemptyset(&self)
        for signal in signals { sigaddset(&self, signal) }
    }
}
