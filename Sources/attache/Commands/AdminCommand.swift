import Admin
import Rules

/// `attache admin token`: a link that logs in to the dashboard.
struct AdminCommand: Command {
    static let syntax = CommandSyntax(
        name: "admin", summary: "print a link that logs in to the dashboard",
        operands: [CommandOperand(name: "ACTION")],
        options: [
            CommandOption(
                name: "config", value: "FILE",
                summary: ["the rule file it runs with; default: ./proxy.conf, else /etc/attache/proxy.conf"])
        ],
        details: """
            ACTION is 'token'. Asks the running proxy for a link to its dashboard, at the address that
            'admin' names. The link logs in once, within \(DashboardAccess.tokenMinutes) minutes; whoever has it sees what the
            proxy does, and may act. The session ends after half an hour without a page open.

            The proxy is reached by the socket 'control' in the directory that 'state' names, as its own
            user or as root. Where none runs the exit status is 1.

                attache admin token
            """)

    private let proxy: RunningProxy

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operand(0) == "token" else {
            throw arguments.error(Arguments.unknown("action", arguments.operand(0) ?? "", among: ["token"]))
        }
        let path = try RuleFilePath.choose(arguments.value(of: "config"))
        proxy = try RunningProxy(of: try RuleFile.read(path), at: path)
    }

    func run() throws(CommandError) -> Int32 {
        guard let answer = try proxy.ask("POST", "/admin/token") else { throw proxy.absence }
        Console.printText(answer)
        return ExitStatus.success
    }
}
