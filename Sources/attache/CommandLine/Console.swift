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

    /// Milliseconds in which standard error must take what was said before the process ends.
    private static let patience = 1000

    /// One message, which reads well after the program's name. It is one line whatever a client, an origin or a file
    /// name put into it.
    static func error(_ sentence: String) { write("attache: \(printable(sentence))\n") }

    /// A message about what goes wrong while the proxy serves. Repetitions are counted, and said once in a while.
    static func report(_ sentence: String) {
        for sentence in folding.withLock({ $0.add(sentence, at: .now) }) { error(sentence) }
    }

    /// Says how often reports were repeated, if it is time.
    static func reportRepetitions() {
        for sentence in folding.withLock({ $0.due(at: .now) }) { error(sentence) }
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

    static func print(_ text: String) { OutputFile.standardOutput.write(Array("\(text)\n".utf8)) }

    /// Lines of the running proxy, which has texts of others in them.
    static func printText(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            print(printable(String(line)))
        }
    }

    /// From now on nobody waits for standard error.
    static func beginServing() { isServing.store(true, ordering: .relaxed) }

    /// Waits for standard error once more, as the process is about to end.
    static func endServing() {
        for sentence in folding.withLock({ $0.finish() }) { error(sentence) }
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
