import IO
import PAC

/// The program as the shell calls it: finds the command, runs it, and reports its error.
enum Program {
    private static var commands: [any Command.Type] {
        [
            InitCommand.self, AddCommand.self, RunCommand.self, EnvCommand.self, StatusCommand.self,
            MetricsCommand.self,
            ReloadCommand.self, CheckCommand.self, ExplainCommand.self, TrustCommand.self, AuthorityCommand.self,
            ChallengesCommand.self, AskCommand.self, LearnCommand.self, ReplayCommand.self, CredentialCommand.self,
            StoreCommand.self, PasswordCommand.self, HealthcheckCommand.self, DeployCommand.self, AdminCommand.self,
            HelpCommand.self,
            CompletionsCommand.self, VersionCommand.self,
        ]
    }

    /// The syntaxes of all commands, in the order in which they are listed.
    static var syntaxes: [CommandSyntax] { commands.map { $0.syntax } }

    private static let hint = "'attache --help' lists the commands"

    /// - Parameter arguments: the arguments without the program's name.
    static func run(arguments: [String]) -> Never {
        do throws(CommandError) {
            let status = try status(of: arguments)
            if let problem = Console.outputProblem { throw .failed(problem) }
            ProcessEnd.leave(with: status)
        } catch {
            error.report()
            ProcessEnd.leave(with: error.status)
        }
    }

    private static func status(of arguments: [String]) throws(CommandError) -> Int32 {
        guard let name = arguments.first else { throw .usage("a command is missing", hint: hint) }
        // This is not for people, and so not among the commands.
        if name == PACWorker.command, (2...3).contains(arguments.count) {
            PACWorker.serve(path: arguments[1], engine: arguments.dropFirst(2).first)
            return ExitStatus.success
        }
        switch name {
        case "--help", "-h":
            Console.print(ProgramHelp(commands: syntaxes).overview)
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
        // This must happen before any secret is read.
        if !rest.has(RunCommand.allowsCoreDumps) { ProcessMemory.hide() }
        return try command.init(rest).run()
    }
}
