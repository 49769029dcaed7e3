/// The output and status of a command.
struct CommandResult {
    let status: Int32
    let output: String
    let errorOutput: String

    /// The result with another text in the place of one, in both streams.
    func replacing(_ text: String, with other: String) -> CommandResult {
        CommandResult(
            status: status, output: output.replacing(text, with: other),
            errorOutput: errorOutput.replacing(text, with: other))
    }
}
