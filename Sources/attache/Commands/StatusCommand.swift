import Rules

/// `attache status`: what the running proxy does.
struct StatusCommand: Command {
    static let syntax = CommandSyntax(
        name: "status", summary: "show what the running proxy listens on, and what it works with",
        options: [
            CommandOption(
                name: "config", value: "FILE",
                summary: ["the rule file it runs with; default: ./proxy.conf, else /etc/attache/proxy.conf"]),
            CommandOption(name: "json", summary: ["one JSON object"]),
        ],
        details: """
            Shows the proxy's listeners, its rule file and when that was loaded, a newer one that was
            rejected, the credential store, the clients that are connected, the parents, the challenges that
            were not answered, and how many credentials are in which state ('attache help refusals'). Then
            ten lines of each at most: certificates, tokens, tickets and exceptions by their end, and the
            ways to servers that should be given up (NTLM, MD5, in clear, TLS before 1.2), by the last use.
            --json has all of them.

            A parent is up, or failing from a connection that could not be made to one that was: the proxy
            tries it by itself, too. It is shown with its connections in use and at rest, the requests that
            have ended, and those that it refused as they brought no login that it takes.

            The proxy is reached by the socket 'control' in the directory that 'state' names, as its own
            user or as root. Where none runs the exit status is 1.
            """)

    private let proxy: RunningProxy
    private let target: String

    init(_ arguments: Arguments) throws(CommandError) {
        var query = ControlQuery()
        if !arguments.has("json") { query.add("format", "text") }
        target = "/status\(query)"
        let path = try RuleFilePath.choose(arguments.value(of: "config"))
        proxy = try RunningProxy(of: try RuleFile.read(path), at: path)
    }

    func run() throws(CommandError) -> Int32 {
        guard let answer = try proxy.ask("GET", target) else { throw proxy.absence }
        Console.printText(answer)
        return ExitStatus.success
    }
}
