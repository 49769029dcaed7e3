/// What the process's end says to a script.
enum ExitStatus {
    static let success: Int32 = 0
    /// What was asked for failed.
    static let failed: Int32 = 1
    /// The command line or the rule file is wrong.
    static let usage: Int32 = 2
}
