/// An option that a command takes, `--name VALUE` or `--name=VALUE`.
struct CommandOption: Sendable {
    let name: String
    /// What the help calls its value.
    let value: String
    /// What it is for; a line of the help, or several.
    let summary: [String]
    var isRepeatable = false
}
