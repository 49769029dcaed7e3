import Foundation

/// A golden file: what is run and how it ends, then the files it finds and what it says.
///
///     # what this shows
///     $ attache check proxy.conf
///     exit 2
///     output REGULAR EXPRESSION       instead of a section `stdout`, where it differs from run to run
///     -- proxy.conf --
///     a file of that name in the working directory
///     -- stdout --
///     -- stderr --
///     what is expected; nothing, when the section is missing
struct GoldenFile {
    private(set) var command = ""
    private(set) var status: Int32 = 0
    private(set) var outputPattern: String?
    private(set) var files: [String: String] = [:]
    private(set) var output = ""
    private(set) var errorOutput = ""
    private var comments: [String] = []
    private var fileNames: [String] = []

    struct Malformed: Error {
        let line: String
    }

    init(_ text: String) throws {
        var section: String?
        var content = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            if line.hasPrefix("-- "), line.hasSuffix(" --") {
                finish(section, content)
                section = String(line.dropFirst(3).dropLast(3))
                content = ""
            } else if section != nil {
                content += line + "\n"
            } else {
                try readExpectation(String(line))
            }
        }
        finish(section, content)
    }

    private mutating func readExpectation(_ line: String) throws {
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        switch (parts.first, parts.dropFirst().first) {
        case ("#", _): comments.append(line)
        case ("$", let command?): self.command = command
        case ("exit", let number?): status = Int32(number) ?? -1
        case ("output", let pattern?): outputPattern = pattern
        default: throw Malformed(line: line)
        }
    }

    private mutating func finish(_ section: String?, _ content: String) {
        switch section {
        case nil: break
        case "stdout": output = content
        case "stderr": errorOutput = content
        case let name?:
            fileNames.append(name)
            files[name] = content
        }
    }

    /// The file with what a run yields in place of what was expected.
    func text(with result: CommandResult) -> String {
        var lines = comments + ["$ \(command)"]
        if result.status != 0 { lines.append("exit \(result.status)") }
        if let outputPattern { lines.append("output \(outputPattern)") }
        var text = lines.map { $0 + "\n" }.joined()
        for name in fileNames { text += "-- \(name) --\n\(files[name] ?? "")" }
        if outputPattern == nil, !result.output.isEmpty { text += "-- stdout --\n\(result.output)" }
        if !result.errorOutput.isEmpty { text += "-- stderr --\n\(result.errorOutput)" }
        return text
    }
}
