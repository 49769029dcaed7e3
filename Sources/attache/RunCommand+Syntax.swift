extension RunCommand: Command {
    static let syntax = CommandSyntax(
        name: "run", summary: "serve until told to stop",
        options: [
            CommandOption(
                name: "config", value: "FILE",
                summary: ["the rule file; default: ./proxy.conf, else /etc/attache/proxy.conf"]),
            CommandOption(
                name: allowsCoreDumps,
                summary: ["let a crash leave a core dump and a debugger look in: both show passwords"]),
        ],
        details: """
            SIGHUP reads the rule file again; a file with errors changes nothing. SIGUSR1 opens the access
            log's file anew, for whoever has renamed it. SIGTERM and SIGINT stop: requests in flight are
            finished first, for as long as 'timeouts { drain }' says; a second one stops at once. The access
            log goes where 'log' says, everything else to standard error.
            """)

    static let allowsCoreDumps = "allow-core-dumps"

    init(_ arguments: Arguments) throws(CommandError) {
        self.init(configuration: try RuleFilePath.choose(arguments.value(of: "config")))
    }
}
