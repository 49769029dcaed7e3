import Rules

/// `attache check`: says what is wrong with a rule file.
struct CheckCommand: Command {
    static let syntax = CommandSyntax(
        name: "check", summary: "show every error of a rule file",
        operands: [CommandOperand(name: "FILE", isOptional: true)],
        details: """
            FILE is ./proxy.conf by default, else /etc/attache/proxy.conf. A good file is met with silence.
            Every error and every warning is shown with its line; errors end with status 2, warnings alone
            with 0. The certificates of listeners are opened; secrets and the users file are not.
            """)

    let path: String

    init(_ arguments: Arguments) throws(CommandError) {
        path = try RuleFilePath.choose(arguments.operand(0))
    }

    func run() throws(CommandError) -> Int32 {
        let file = try RuleFile.read(path)
        let configuration = try file.valid()
        Console.write(file.report)
        let problems = OwnIdentities.problems(with: configuration.listeners)
        for problem in problems { Console.error(problem) }
        return problems.isEmpty ? ExitStatus.success : ExitStatus.usage
    }
}
