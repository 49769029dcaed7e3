import Credentials
import IO
import Synchronization

/// Work of a command that may take a while. On a terminal one line says how far it is, which is gone at the end; a pipe,
/// a file or a terminal that cannot go back in its line (`TERM=dumb`) gets nothing. SIGINT, SIGTERM or SIGHUP ends the
/// work before its next item.
final class LongWork: WorkObserver {
    private let purpose: String
    private let isShown: Bool
    /// When the line was last written, on the clock that nobody sets back; nil: there is none.
    private let shownAt = Mutex<Int?>(nil)

    /// Milliseconds between two changes of the line.
    private static let pause = 100
    /// ECMA-48: the cursor goes to the line's start, and the line is erased.
    private static let erasure = "\r\u{1B}[K"

    /// - Parameter purpose: what is done, as in `keeping credentials`.
    private init(_ purpose: String) {
        self.purpose = purpose
        let terminal = Environment.value(of: "TERM") ?? ""
        isShown = Terminal.isStandardError && terminal != "" && terminal != "dumb"
    }

    /// Carries `body` out. Whatever it throws, the line is gone and signals end the process again.
    static func run<Value>(
        _ purpose: String, _ body: (LongWork) throws(CommandError) -> Value
    ) throws(CommandError) -> Value {
        let work = LongWork(purpose)
        StopSignals.expect()
        work.show { "…" }
        defer {
            work.erase()
            StopSignals.endExpecting()
        }
        return try body(work)
    }

    /// Whether somebody wants it to end.
    var isStopped: Bool { StopSignals.received != nil }

    func continues(after done: Int, of total: Int) -> Bool {
        let share = total > 0 ? " (\(done * 100 / total) %)" : ""
        show { "\(done) of \(total)\(share)" }
        return !isStopped
    }

    /// Changes the line, if the last change is long enough ago.
    func show(_ state: () -> String) {
        guard isShown else { return }
        let now = SystemClock.uptimeMilliseconds
        let isDue = shownAt.withLock { shownAt in
            if let shownAt, now - shownAt < Self.pause { return false }
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

    /// The error of a command that was stopped.
    ///
    /// - Parameter state: what the work left behind, and how it goes on.
    func stopped(_ state: String) -> CommandError { .stopped(state, signal: StopSignals.received ?? 0) }
}
