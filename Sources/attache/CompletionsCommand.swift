/// The command `attache completions`: prints the completions for a shell.
struct CompletionsCommand: Command {
    static let syntax = CommandSyntax(
        name: "completions", summary: "print the completions for a shell",
        operands: [CommandOperand(name: "SHELL", choices: CompletionScript.Shell.allCases.map(\.rawValue))],
        details: """
            Prints a script that completes attache's command lines. SHELL is bash, zsh or fish.

                attache completions bash > /usr/share/bash-completion/completions/attache
                attache completions zsh > /usr/share/zsh/vendor-completions/_attache
                attache completions fish > /usr/share/fish/vendor_completions.d/attache.fish
            """)

    private let shell: CompletionScript.Shell

    init(_ arguments: Arguments) throws(CommandError) {
        shell = try arguments.choice("shell", arguments.operand(0) ?? "")
    }

    func run() -> Int32 {
        Console.print(CompletionScript(commands: Program.syntaxes).text(for: shell))
        return ExitStatus.success
    }
}
