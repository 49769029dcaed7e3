import Authentication
import Model
import Rules

/// `attache challenges`: what the running proxy was asked for, and why it did not answer.
struct ChallengesCommand: Command {
    static let syntax = CommandSyntax(
        name: "challenges", summary: "show the challenges that the running proxy has met",
        operands: [CommandOperand(name: "URL", isOptional: true)],
        options: [
            CommandOption(
                name: "config", value: "FILE",
                summary: ["the rule file it runs with; default: ./proxy.conf, else /etc/attache/proxy.conf"]),
            CommandOption(name: "json", summary: ["one JSON array, with the challenges as the servers wrote them"]),
            CommandOption(name: "unanswered", summary: ["leave out those that were answered"]),
        ],
        details: """
            Shows each protection space that has challenged since the proxy was started, at most 1,000, the
            latest first: those that nobody answered with the reason, what the server said (up to 1 KB of
            text), the rules that were asked, and lines to paste into the rule file; then those that were
            answered, with the credential's name. With a URL only those of its server.

            The proxy is reached by the socket 'control' in the directory that 'state' names, as its own
            user or as root.

                attache challenges --unanswered
                attache challenges http://ci.example.com/
            """)

    private let proxy: RunningProxy
    private let target: String

    init(_ arguments: Arguments) throws(CommandError) {
        var query = ControlQuery()
        if !arguments.has("json") { query.add("format", "text") }
        if arguments.has("unanswered") { query.add("unanswered", "yes") }
        if let url = arguments.operand(0) {
            do throws(ExplanationError) { query.add(try Origin(url: url, isProxy: false)) } catch {
                throw arguments.error(error.sentence)
            }
        }
        target = "/challenges\(query)"
        let path = try RuleFilePath.choose(arguments.value(of: "config"))
        proxy = try RunningProxy(of: try RuleFile.read(path), at: path)
    }

    func run() throws(CommandError) -> Int32 {
        guard let answer = try proxy.ask("GET", target) else { throw proxy.absence }
        if answer.isEmpty { Console.error("no challenge was met yet") } else { Console.printText(answer) }
        return ExitStatus.success
    }
}
