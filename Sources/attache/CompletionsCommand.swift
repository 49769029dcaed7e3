/// The command `attache completions`: prints the completions for a shell.
struct CompletionsCommand: Command {
    static let syntax = CommandSyntax(
        name: "completions", summary: "print the completions for a shell",
        operands: [CommandOperand(name: "SHELL", choices: CompletionShell.allCases.map(\.rawValue))],
        details: """
            Prints a script that completes attache's command lines. SHELL is bash, zsh or fish.

                attache completions bash > /usr/share/bash-completion/completions/attache
                attache completions zsh > /usr/share/zsh/vendor-completions/_attache
                attache completions fish > /usr/share/fish/vendor_completions.d/attache.fish
            """)

    private let shell: CompletionShell

    init(_ arguments: Arguments) throws(CommandError) {
        let name = arguments.operand(0) ?? ""
        guard let shell = CompletionShell(rawValue: name) else {
            let known = CompletionShell.allCases.map(\.rawValue)
            throw arguments.error(Arguments.unknown("shell", name, among: known))
        }
        self.shell = shell
    }

    func run() -> Int32 {
        Console.print(CompletionScript(commands: Program.syntaxes).text(for: shell))
        return ExitStatus.success
    }
}
