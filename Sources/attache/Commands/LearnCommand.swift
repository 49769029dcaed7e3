import Authentication
import Model
import Rules

/// `attache learn`: rules for the servers that the running proxy has met.
struct LearnCommand: Command {
    static let syntax = CommandSyntax(
        name: "learn", summary: "write rules for the servers that the running proxy has met",
        operands: [CommandOperand(name: "URL", isOptional: true)],
        options: [
            CommandOption(
                name: "config", value: "FILE",
                summary: ["the rule file it runs with; default: ./proxy.conf, else /etc/attache/proxy.conf"])
        ],
        details: """
            Prints a 'challenge' for each protection space that has challenged since the proxy was started,
            narrowed to its host, port, realm and method: with the credential that answered, or that a rule
            nearly gave, or with one to be filled in. Read them before they are used: a comment above each
            says what was met. With a URL only those of its server.

                attache learn http://ci.example.com/

            With 'mode report' in the rule file this is how rules are made from traffic: nothing is sent
            until the lines stand in it and say otherwise.
            """)

    private let proxy: RunningProxy
    private let target: String

    init(_ arguments: Arguments) throws(CommandError) {
        var query = ControlQuery()
        if let url = arguments.operand(0) {
            do throws(ExplanationError) { query.add(try Origin(url: url, isProxy: false)) } catch {
                throw arguments.error(error.sentence)
            }
        }
        target = "/learned\(query)"
        let path = try RuleFilePath.choose(arguments.value(of: "config"))
        proxy = try RunningProxy(of: try RuleFile.read(path), at: path)
    }

    func run() throws(CommandError) -> Int32 {
        guard let answer = try proxy.ask("GET", target) else { throw proxy.absence }
        if answer.isEmpty { Console.error("no challenge was met yet") } else { Console.printText(answer) }
        return ExitStatus.success
    }
}
