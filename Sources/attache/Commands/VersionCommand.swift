/// The command `attache version`.
struct VersionCommand: Command {
    static let syntax = CommandSyntax(
        name: "version", summary: "show the version", details: "One line: the program's name and its version.")

    init() {}

    init(_ arguments: Arguments) throws(CommandError) {}

    func run() -> Int32 {
        Console.print("attache \(ProgramVersion.text)")
        return ExitStatus.success
    }
}
