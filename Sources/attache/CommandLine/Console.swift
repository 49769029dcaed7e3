import Credentials
import IO
import Synchronization
import Telemetry

/// The lines that a person at the terminal reads: results on standard output, everything else on standard error.
///
/// A command waits until its words are written. While the proxy serves, nobody waits: a terminal that stands still or a
/// pipe that nobody reads must not stop it.
enum Console {
    private static let isServing = Atomic(false)
    private static let losses = LineWriter.Losses()
    private static let folding = Mutex(ReportFolding())
    private enum Log {
        /// There is none yet. It gets these when it is there.
        case missing([AuditEvent])
        case open(@Sendable (AuditEvent) -> Void)
    }

    private static let log = Mutex(Log.missing([]))
    /// Whether the log is on standard error itself, and whether a person reads it there.
    private static let isLog = Atomic(false)
    private static let isLogForPeople = Atomic(false)

    /// Milliseconds in which standard error must take what was said before the process ends.
    private static let patience = 1000

    /// One message, which reads well after the program's name. It is one line whatever a client, an origin or a file
    /// name put into it.
    static func error(_ sentence: String) { write("attache: \(printable(sentence))\n") }

    /// The same while the proxy serves, as a notice in the log. Standard error has it too, unless the log goes there itself.
    static func say(_ sentence: String, as name: AuditEvent.Name = .notice) {
        repeatEvent(sentence)
        note(sentence, as: name)
    }

    /// A notice for the log alone.
    static func note(_ sentence: String, as name: AuditEvent.Name) {
        let event = AuditEvent(name, by: .proxy, details: sentence)
        let open: (@Sendable (AuditEvent) -> Void)? = log.withLock { log in
            switch log {
            case .open(let note): return note
            case .missing(let events):
                log = .missing(events + [event])
                return nil
            }
        }
        open?(event)
    }

    /// A sentence for people, and for no program that reads the log.
    static func hint(_ sentence: String) {
        repeatEvent(sentence)
        if isLogForPeople.load(ordering: .relaxed) { note(sentence, as: .proxyStarted) }
    }

    /// A sentence on an event that the log has.
    static func repeatEvent(_ sentence: String) {
        // Before the proxy serves, the log has nothing.
        if !isLog.load(ordering: .relaxed) || !isServing.load(ordering: .relaxed) { error(sentence) }
    }

    /// A message about what goes wrong while the proxy serves. Repetitions are counted, and said once in a while.
    static func report(_ sentence: String, as name: AuditEvent.Name = .notice) {
        for sentence in folding.withLock({ $0.add(sentence, at: .now) }) { say(sentence, as: name) }
    }

    /// Says how often reports were repeated, if it is time.
    static func reportRepetitions() {
        for sentence in folding.withLock({ $0.due(at: .now) }) { say(sentence) }
    }

    /// - Parameters:
    ///   - isLog: whether the log goes to standard error, which then has nothing twice.
    ///   - isForPeople: whether it is written for a person.
    static func share(withLog isLog: Bool, forPeople isForPeople: Bool) {
        self.isLog.store(isLog, ordering: .relaxed)
        isLogForPeople.store(isLog && isForPeople, ordering: .relaxed)
    }

    /// Text that is complete in itself, such as diagnostics.
    static func write(_ text: String) {
        let bytes = Array(text.utf8)
        if isServing.load(ordering: .relaxed) {
            LineWriter.standardError.write(bytes, lines: bytes.count { $0 == 0x0A }, losses: losses)
        } else {
            OutputFile.standardError.write(bytes)
        }
    }

    static func print(_ text: String) {
        if case .part(_, let reason) = OutputFile.standardOutput.write(Array("\(text)\n".utf8)) {
            _ = failure.compareExchange(expected: 0, desired: reason, ordering: .relaxed)
        }
    }

    /// The first error number of a write to standard output; 0: all was written.
    private static let failure = Atomic<Int32>(0)

    /// Why standard output did not take all; nil: it did.
    static var outputProblem: String? {
        let reason = failure.load(ordering: .relaxed)
        return reason == 0 ? nil : "cannot write to standard output: \(IOError.sentence(for: reason))"
    }

    /// Lines of the running proxy, which has texts of others in them.
    static func printText(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            print(printable(String(line)))
        }
    }

    /// From now on nobody waits for standard error, and the log has what the operator is told.
    static func beginServing(noting note: @escaping @Sendable (AuditEvent) -> Void) {
        isServing.store(true, ordering: .relaxed)
        let missed = log.withLock { log in
            defer { log = .open(note) }
            return if case .missing(let events) = log { events } else { [AuditEvent]() }
        }
        // Where the log goes to standard error, they stand there.
        if !isLog.load(ordering: .relaxed) { for event in missed { note(event) } }
    }

    /// Waits for standard error once more, as the process is about to end.
    static func endServing() {
        for sentence in folding.withLock({ $0.finish() }) { say(sentence) }
        LineWriter.standardError.drain(within: patience)
    }

    /// Lines that standard error did not take.
    static var linesDropped: Int { losses.total }

    /// A text of others, for a line on the terminal: it must not steer it.
    static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
            default: scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
