import IO
import Rules

/// `attache help`: the manual.
struct HelpCommand: Command {
    static let syntax = CommandSyntax(
        name: "help", summary: "show the manual of a topic, a command or a word of the rule file",
        operands: [CommandOperand(name: "TOPIC", isOptional: true, choices: ManualTopic.all.map(\.name))],
        options: [
            CommandOption(
                name: "man", value: "NAME",
                summary: ["print the page for man(1) instead: attache or proxy.conf"],
                choices: ManualPage.allCases.map(\.rawValue))
        ],
        details: """
            Without a TOPIC it lists them. On a terminal the text is shown by $PAGER, else less.

                attache help challenge
                attache help preempt
                attache help --man proxy.conf > /usr/local/share/man/man5/proxy.conf.5
            """)

    private let text: String
    private let isPaged: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        let help = ProgramHelp(commands: Program.syntaxes)
        let word = arguments.operand(0)
        isPaged = arguments.value(of: "man") == nil
        if let name = arguments.value(of: "man") {
            guard word == nil else { throw arguments.error("'--man' stands without a TOPIC") }
            guard let page = ManualPage(rawValue: name) else {
                throw arguments.error(
                    Arguments.unknown("page", name, among: ManualPage.allCases.map(\.rawValue)))
            }
            text = String(page.text(Program.syntaxes, version: ProgramVersion.text).dropLast())
        } else if let word {
            guard let found = help.text(about: word) else {
                throw .usage(
                    Arguments.unknown("topic", word, among: help.words), hint: "'attache help' lists the topics")
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
