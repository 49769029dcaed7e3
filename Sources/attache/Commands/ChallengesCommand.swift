/// The command `attache challenges`: shows the challenges that the running proxy has met, and why it did not answer.
struct ChallengesCommand: Command {
    static let syntax = CommandSyntax(
        name: "challenges", summary: "show the challenges that the running proxy has met",
        operands: [CommandOperand(name: "URL", isOptional: true)],
        options: [
            CommandOption.config,
            CommandOption(
                name: "json", summary: ["print one JSON object, with the challenges as the servers sent them"]),
            CommandOption(name: "unanswered", summary: ["show only those that got no answer"]),
        ],
        details: """
            Shows the challenges since the proxy was started: at most 1,000 protection spaces, the latest first.
            First come those that wait for an operator. Then come those without an answer: the reason, the
            server's response (up to 1 KB of text), the rules that were tried, and lines to paste into the rule
            file. Then come those with an answer, with the name of the credential. Tunnels that were not
            decrypted, to servers that no rule names, come last. With a URL, only those of its server.

                attache challenges --unanswered
                attache challenges http://ci.example.com/

            The proxy is reached by the socket 'control' in the directory that 'state' names. Run the command as
            the proxy's user or as root.
            """)

    private let proxy: RunningProxy
    private let target: String

    init(_ arguments: Arguments) throws(CommandError) {
        var query = ControlQuery()
        if !arguments.has("json") { query.add("format", "text") }
        if arguments.has("unanswered") { query.add("unanswered", "yes") }
        if let url = arguments.operand(0) { query.add(try arguments.origin(of: url)) }
        target = "/challenges\(query)"
        proxy = try RunningProxy(by: arguments)
    }

    func run() throws(CommandError) -> Int32 { try proxy.show(target, or: "there was no challenge yet") }
}
