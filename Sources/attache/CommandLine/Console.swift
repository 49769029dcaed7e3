import Bytes
import Credentials
import IO
import Synchronization
import Telemetry

/// Writes lines for a person at the terminal: results to standard output, everything else to standard error.
///
/// A command waits until its text is written. A serving proxy does not wait: a stopped terminal or a pipe without a
/// reader must not stop it.
enum Console {
    private static let isServing = Atomic(false)
    private static let losses = LineWriter.Losses()
    private static let folding = Mutex(ReportFolding())
    private enum Log {
        /// The log is not open yet. It gets these events when it is.
        case missing([AuditEvent])
        case open(@Sendable (AuditEvent) -> Void)
    }

    private static let log = Mutex(Log.missing([]))
    /// Whether the log is standard error itself, and whether a person reads it there.
    private static let isLog = Atomic(false)
    private static let isLogForPeople = Atomic(false)

    /// The time in which standard error must take the remaining text before the process ends.
    private static let patience: Milliseconds = 1000

    /// Writes one message, to follow the program's name. It is always one line, even if a client, an origin or a file
    /// name put line ends into it.
    static func error(_ sentence: String) { write("attache: \(printable(sentence))\n") }

    /// Writes a message while the proxy serves, as a notice in the log. Standard error gets it too, unless the log is
    /// written there.
    static func say(_ sentence: String, as name: AuditEvent.Name = .notice) {
        repeatEvent(sentence)
        note(sentence, as: name)
    }

    /// Writes a notice to the log alone.
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

    /// Writes a sentence for people, not for programs that read the log.
    static func hint(_ sentence: String) {
        repeatEvent(sentence)
        if isLogForPeople.load(ordering: .relaxed) { note(sentence, as: .proxyStarted) }
    }

    /// Writes a sentence about an event that the log already has.
    static func repeatEvent(_ sentence: String) {
        // The log has nothing before the proxy serves.
        if !isLog.load(ordering: .relaxed) || !isServing.load(ordering: .relaxed) { error(sentence) }
    }

    /// Reports a problem while the proxy serves. Repetitions are counted, and reported once in a while.
    static func report(_ sentence: String, as name: AuditEvent.Name = .notice) {
        for sentence in folding.withLock({ $0.add(sentence, at: .now) }) { say(sentence, as: name) }
    }

    /// Reports the number of repetitions, if it is time.
    static func reportRepetitions() {
        for sentence in folding.withLock({ $0.due(at: .now) }) { say(sentence) }
    }

    /// - Parameters:
    ///   - isLog: whether the log is written to standard error, which then gets nothing twice.
    ///   - isForPeople: whether the log is written for a person.
    static func share(withLog isLog: Bool, forPeople isForPeople: Bool) {
        self.isLog.store(isLog, ordering: .relaxed)
        isLogForPeople.store(isLog && isForPeople, ordering: .relaxed)
    }

    /// Writes text that is complete in itself, such as diagnostics.
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

    /// Prints lines of the running proxy, which contain texts of peers.
    static func printText(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            print(printable(String(line)))
        }
    }

    /// Starts serving: messages no longer wait for standard error, and also go to the log.
    static func beginServing(noting note: @escaping @Sendable (AuditEvent) -> Void) {
        isServing.store(true, ordering: .relaxed)
        let missed = log.withLock { log in
            defer { log = .open(note) }
            return if case .missing(let events) = log { events } else { [AuditEvent]() }
        }
        // If the log is written to standard error, these events are there already.
        if !isLog.load(ordering: .relaxed) { for event in missed { note(event) } }
    }

    /// Waits for standard error once more before the process ends.
    static func endServing() {
        for sentence in folding.withLock({ $0.finish() }) { say(sentence) }
        LineWriter.standardError.drain(within: patience)
    }

    /// The number of lines that standard error did not take.
    static var linesDropped: Int { losses.total }

    /// Asks a question on the terminal. Only 'yes' confirms it.
    static func confirms(_ question: String) throws(CommandError) -> Bool {
        let answer = try CommandError.failing { try Terminal().ask("\(question) (yes or no) ") }
        return answer?.lowercased() == "yes"
    }

    /// Makes a peer's text safe for a line on the terminal.
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
