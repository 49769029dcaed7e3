/// What a command left behind.
struct CommandResult {
    let status: Int32
    let output: String
    let errorOutput: String
}
