import Bytes

/// A command of the program.
protocol Command {
    static var syntax: CommandSyntax { get }

    /// Creates the command. Throws if the arguments do not fit together, though each fits the syntax.
    init(_ arguments: Arguments) throws(CommandError)

    /// - Returns: the process's exit status.
    func run() throws(CommandError) -> Int32
}

/// The options and operands of a command, with its help.
struct CommandSyntax: Sendable {
    let name: String
    /// The purpose of the command, to follow its name: without capital and period.
    let summary: String
    var operands: [CommandOperand] = []
    var options: [CommandOption] = []
    /// Further explanations, in whole lines.
    let details: String

    /// The usage line.
    var usage: String {
        let optional = options.map { "[\($0.label)]\($0.isRepeatable ? "..." : "")" }
        let words = operands.map { $0.isOptional ? "[\($0.name)]" : $0.name }
        return Self.wrapped("usage: attache \(name)", optional + words)
    }

    /// Returns the words after the start, in lines of at most 100 characters.
    private static func wrapped(_ start: String, _ words: [String]) -> String {
        let indentation = String(repeating: " ", count: start.count)
        var lines = [start]
        for word in words {
            let last = lines.count - 1
            if lines[last].count + 1 + word.count <= 100 {
                lines[last] += " \(word)"
            } else {
                lines.append("\(indentation) \(word)")
            }
        }
        return lines.joined(separator: "\n")
    }

    var help: String {
        let entries = options.map { ($0.label, $0.summary) } + [("--help", ["show this text"])]
        let rows = entries.flatMap { label, summary in
            summary.enumerated().map { index, line in (index == 0 ? label : "", line) }
        }
        return """
            attache \(name): \(summary)

            \(usage)

            \(Self.table(rows).joined(separator: "\n"))

            \(details)
            """
    }

    /// Returns the lines of a table with two columns, each behind the margin.
    static func table(_ rows: [(String, String)], margin: String = "  ") -> [String] {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { "\(margin)\($0.padded(to: width))  \($1)" }
    }

    /// The hint after a wrong command line.
    var hint: String { "\(usage)\n'attache \(name) --help' says more" }
}

/// An option of a command, `--name VALUE` or `--name=VALUE`, or `--name` alone.
struct CommandOption: Sendable {
    let name: String
    /// The name of its value in the help; nil if it has none.
    var value: String?
    /// The purpose, in one or more lines of the help.
    let summary: [String]
    var isRepeatable = false
    /// The allowed values, if there are few.
    var choices: [String] = []

    /// The option as the help shows it.
    var label: String { "--\(name)\(value.map { " \($0)" } ?? "")" }
}

/// An argument that is not an option.
struct CommandOperand: Sendable {
    let name: String
    var isOptional = false
    /// The allowed words, if there are few.
    var choices: [String] = []
}

/// The reason why a command failed, by its cause. A sentence follows `attache: `; a hint is a line of its own.
enum CommandError: Error {
    /// The command line is wrong.
    case usage(String, hint: String)
    /// The rule file does not allow it.
    case configuration(String)
    /// The rule file has errors; the report shows them all and needs no sentence.
    case rules(report: String)
    /// The command was tried, and failed.
    case failed(String)
    /// A signal stopped the command.
    case stopped(String, signal: Int32)

    var status: Int32 {
        switch self {
        case .usage, .configuration, .rules: ExitStatus.usage
        case .failed: ExitStatus.failed
        case .stopped(_, let signal): ExitStatus.signalled + signal
        }
    }

    var sentence: String {
        switch self {
        case .usage(let sentence, _), .configuration(let sentence), .failed(let sentence), .stopped(let sentence, _):
            sentence
        case .rules(let report): report
        }
    }

    /// Runs `body`; its error is the reason of the failure.
    static func failing<Value>(_ body: () throws -> Value) throws(CommandError) -> Value {
        do { return try body() } catch { throw error as? CommandError ?? .failed("\(error)") }
    }

    /// Writes the error to standard error.
    func report() {
        switch self {
        case .usage(let sentence, let hint):
            Console.error(sentence)
            Console.write(hint + "\n")
        case .configuration(let sentence), .failed(let sentence), .stopped(let sentence, _): Console.error(sentence)
        case .rules(let report): Console.write(report)
        }
    }
}

/// The exit status of the process, for scripts.
enum ExitStatus {
    static let success: Int32 = 0
    /// The command failed.
    static let failed: Int32 = 1
    /// The command line or the rule file is wrong.
    static let usage: Int32 = 2
    /// The base that a signal's number is added to, as in shells.
    static let signalled: Int32 = 128
}
