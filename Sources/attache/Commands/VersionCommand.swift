/// `attache version`.
struct VersionCommand: Command {
    static let version = "0.1.0"

    static let syntax = CommandSyntax(
        name: "version", summary: "show the version", details: "One line: the program's name and its version.")

    init() {}

    init(_ arguments: Arguments) throws(CommandError) {}

    func run() -> Int32 {
        Console.print("attache \(Self.version)")
        return ExitStatus.success
    }
}
