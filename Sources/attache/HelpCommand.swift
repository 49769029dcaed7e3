import IO
import Rules

/// The command `attache help`: shows the manual.
struct HelpCommand: Command {
    static let syntax = CommandSyntax(
        name: "help", summary: "show the manual: a topic, a command, or any word",
        operands: [CommandOperand(name: "TOPIC", isOptional: true, choices: ManualTopic.all.map(\.name))],
        options: [
            CommandOption(
                name: "man", value: "NAME",
                summary: ["print this page in man format instead: attache or proxy.conf"],
                choices: ManualPage.allCases.map(\.rawValue))
        ],
        details: """
            Shows the manual. Without TOPIC it lists all topics. TOPIC can also be a command, a word of the
            rule file, or a word such as 'docker' or '407'. On a terminal it uses $PAGER, or else less.

                attache help challenge
                attache help preempt
                attache help docker
                attache help --man proxy.conf > /usr/local/share/man/man5/proxy.conf.5
            """)

    private let text: String
    private let isPaged: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        let help = ProgramHelp(commands: Program.syntaxes)
        let word = arguments.operand(0)
        isPaged = arguments.value(of: "man") == nil
        if let name = arguments.value(of: "man") {
            guard word == nil else { throw arguments.error("'--man' takes no TOPIC: leave one of the two out") }
            let page: ManualPage = try arguments.choice("page", name)
            text = String(page.text(Program.syntaxes, version: ProgramVersion.text).dropLast())
        } else if let word {
            guard let found = help.text(about: word) else {
                let nearest = ProgramHelp.list(ManualTopic.nearest(to: word, count: 3))
                throw .usage(
                    "no topic is about '\(Console.printable(word))'; the nearest topics are:",
                    hint: "\(nearest)\n'attache help' lists all topics")
            }
            text = found
        } else {
            text = help.overview
        }
    }

    func run() throws(CommandError) -> Int32 {
        if isPaged, Terminal.isStandardOutput, Pager.show("\(text)\n") { return ExitStatus.success }
        Console.print(text)
        return ExitStatus.success
    }
}
