/// What a command line may say after a command's name, and the help about it.
struct CommandSyntax: Sendable {
    let name: String
    /// What the command does, after its name: no capital, no period.
    let summary: String
    var operands: [CommandOperand] = []
    var options: [CommandOption] = []
    /// What is to be known beyond that: whole lines.
    let details: String

    /// The command line's form.
    var usage: String {
        let optional = options.map { "[\($0.label)]\($0.isRepeatable ? "..." : "")" }
        let words = operands.map { $0.isOptional ? "[\($0.name)]" : $0.name }
        return Self.wrapped("usage: attache \(name)", optional + words)
    }

    /// The words behind the start, in lines of at most 100 characters.
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
        let rows = options.map { ($0.label, $0.summary) } + [("--help", ["show this text"])]
        let width = rows.map(\.0.count).max() ?? 0
        let lines = rows.flatMap { label, summary in
            summary.enumerated().map { index, line in
                let label = index == 0 ? label : ""
                return "  \(label)\(String(repeating: " ", count: width - label.count))  \(line)"
            }
        }
        return """
            attache \(name): \(summary)

            \(usage)

            \(lines.joined(separator: "\n"))

            \(details)
            """
    }

    /// Where a wrong command line is sent.
    var hint: String { "\(usage)\n'attache \(name) --help' tells more" }
}
