import Bytes
import Credentials
import IO
import Synchronization

/// Long work of a command. On a terminal one line shows the progress and disappears at the end. A pipe, a file or a
/// terminal that cannot erase its line (`TERM=dumb`) gets nothing. SIGINT, SIGTERM or SIGHUP ends the work before its
/// next item.
final class ProgressReport: WorkObserver {
    private let purpose: String
    private let isShown: Bool
    /// The time when the line was last written, on the monotonic clock; nil if none is shown.
    private let shownAt = Mutex<LoopInstant?>(nil)

    /// The time between two changes of the line.
    private static let pause: Milliseconds = 100
    /// ECMA-48: move the cursor to the start of the line, and erase the line.
    private static let erasure = "\r\u{1B}[K"

    /// - Parameter purpose: the activity, as in `keeping credentials`.
    private init(_ purpose: String) {
        self.purpose = purpose
        isShown = Terminal.isStandardError && Environment.text(of: "TERM") ?? "dumb" != "dumb"
    }

    /// Runs `body`. Afterwards the line is gone and signals end the process again, even after an error.
    static func run<Value>(
        _ purpose: String, _ body: (ProgressReport) throws(CommandError) -> Value
    ) throws(CommandError) -> Value {
        let work = ProgressReport(purpose)
        StopSignals.expect()
        work.show { "…" }
        defer {
            work.erase()
            StopSignals.endExpecting()
        }
        return try body(work)
    }

    /// Whether a signal has asked to stop.
    var isStopped: Bool { StopSignals.received != nil }

    func continues(after done: Int, of total: Int) -> Bool {
        let share = total > 0 ? " (\(done * 100 / total) %)" : ""
        show { "\(done) of \(total)\(share)" }
        return !isStopped
    }

    /// Changes the line, if the last change is long enough ago.
    func show(_ state: () -> String) {
        guard isShown else { return }
        let now = SystemClock.uptime
        let isDue = shownAt.withLock { shownAt in
            if let shownAt, now < shownAt + Self.pause { return false }
            shownAt = now
            return true
        }
        if isDue { Console.write("\(Self.erasure)\(purpose): \(state())") }
    }

    private func erase() {
        let wasShown = shownAt.withLock { shownAt in
            defer { shownAt = nil }
            return shownAt != nil
        }
        if wasShown { Console.write(Self.erasure) }
    }

    /// Returns the error of a command that was stopped.
    ///
    /// - Parameter state: the state of the unfinished work, and how to continue it.
    func stopped(_ state: String) -> CommandError { .stopped(state, signal: StopSignals.received ?? 0) }
}
