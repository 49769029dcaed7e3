import HTTP2

/// The command `attache version`.
struct VersionCommand: Command {
    static let syntax = CommandSyntax(
        name: "version", summary: "show the version",
        options: [CommandOption(name: "verbose", summary: ["also show the version of libnghttp2, which reads HTTP/2"])],
        details: "One line: the program's name and its version.")

    private let isVerbose: Bool

    init() { isVerbose = false }

    init(_ arguments: Arguments) throws(CommandError) { isVerbose = arguments.has("verbose") }

    func run() -> Int32 {
        Console.print("attache \(ProgramVersion.text)")
        if isVerbose { Console.print("libnghttp2 \(ServerConnection.libraryVersion)") }
        return ExitStatus.success
    }
}
