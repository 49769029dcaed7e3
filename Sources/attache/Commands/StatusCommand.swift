/// The command `attache status`: shows the state of the running proxy.
struct StatusCommand: Command {
    static let syntax = CommandSyntax(
        name: "status", summary: "show the state of the running proxy",
        options: [
            CommandOption.config,
            CommandOption(name: "json", summary: ["print one JSON object"]),
        ],
        details: """
            Shows the listeners, the rule file and when it was loaded, a newer one that was rejected, the store,
            the clients, the parents, unanswered challenges, and how many credentials are in which state
            ('attache help refusals'). Then come two lists of at most ten lines:

                - what expires next: certificates, tokens, tickets and exceptions
                - weak logins and old TLS still in use (NTLM, MD5, unencrypted, TLS before 1.2), latest first

            --json has all lines. 'attache help json' lists its fields.

            A parent is "failing" after a connection to it fails, and "up" after the next one succeeds. The
            proxy also tests it by itself. Its line shows the connections, active and idle, the requests that
            have ended, and those that it refused because of a missing login.

                attache status
                attache status --json

            The proxy is reached by the socket 'control' in the directory that 'state' names. Run the command as
            the proxy's user or as root. If no proxy runs, the exit status is 1.
            """)

    private let proxy: RunningProxy
    private let target: String

    init(_ arguments: Arguments) throws(CommandError) {
        var query = ControlQuery()
        if !arguments.has("json") { query.add("format", "text") }
        target = "/status\(query)"
        proxy = try RunningProxy(by: arguments)
    }

    func run() throws(CommandError) -> Int32 { try proxy.show(target) }
}
