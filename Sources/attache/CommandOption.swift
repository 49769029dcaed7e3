/// An option that a command takes, `--name VALUE` or `--name=VALUE`, or `--name` alone.
struct CommandOption: Sendable {
    let name: String
    /// What the help calls its value; nil when it has none.
    var value: String?
    /// What it is for; a line of the help, or several.
    let summary: [String]
    var isRepeatable = false

    /// As the help shows it.
    var label: String { "--\(name)\(value.map { " \($0)" } ?? "")" }
}
