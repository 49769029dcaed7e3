import Glibc
import IO
import PAC

/// The program as the shell calls it: finds the command, runs it, and tells what went wrong.
enum Program {
    private static var commands: [any Command.Type] {
        [
            InitCommand.self, RunCommand.self, EnvCommand.self, StatusCommand.self, ReloadCommand.self,
            CheckCommand.self, ExplainCommand.self,
            TrustCommand.self, AuthorityCommand.self, ChallengesCommand.self, CredentialCommand.self,
            StoreCommand.self, PasswordCommand.self, HealthcheckCommand.self, AdminCommand.self, VersionCommand.self,
        ]
    }

    private static let hint = "'attache --help' lists the commands"

    /// - Parameter arguments: without the program's own name.
    static func run(arguments: [String]) -> Never {
        do throws(CommandError) {
            exit(try status(of: arguments))
        } catch {
            error.report()
            exit(error.status)
        }
    }

    private static func status(of arguments: [String]) throws(CommandError) -> Int32 {
        guard let name = arguments.first else { throw .usage("a command is missing", hint: hint) }
        // Not for people, and so not among the commands.
        if name == PACWorker.command, arguments.count == 2 {
            PACWorker.serve(path: arguments[1])
            return ExitStatus.success
        }
        switch name {
        case "--help", "-h":
            Console.print(help)
            return ExitStatus.success
        case "--version": return VersionCommand().run()
        case _ where name.hasPrefix("-"):
            throw .usage(Arguments.unknown("option", name, among: ["--help", "--version"]), hint: hint)
        default: break
        }
        guard let command = commands.first(where: { $0.syntax.name == name }) else {
            throw .usage(Arguments.unknown("command", name, among: commands.map { $0.syntax.name }), hint: hint)
        }
        let rest = try Arguments(Array(arguments.dropFirst()), for: command.syntax)
        if rest.wantsHelp {
            Console.print(command.syntax.help)
            return ExitStatus.success
        }
        // Before any secret is read.
        if !rest.has(RunCommand.allowsCoreDumps) { ProcessMemory.hide() }
        return try command.init(rest).run()
    }

    private static var help: String {
        let width = commands.map { $0.syntax.name.count }.max() ?? 0
        let lines = commands.map { command in
            let padding = String(repeating: " ", count: width - command.syntax.name.count)
            return "  \(command.syntax.name)\(padding)  \(command.syntax.summary)"
        }
        return """
            attache: a forward proxy that answers authentication challenges for tools that cannot

            usage: attache COMMAND [OPTION]... [ARGUMENT]...

            \(lines.joined(separator: "\n"))

              --help       show this text; 'attache COMMAND --help' tells more about one
              --version    the same as 'version'

            Results go to standard output, all else to standard error. The exit status is 0 for success,
            1 when what was asked for failed, 2 when the command line or the rule file is wrong.
            """
    }
}
