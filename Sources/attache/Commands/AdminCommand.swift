/// The command `attache admin token`: prints a link that logs in to the dashboard.
struct AdminCommand: Command {
    static let syntax = CommandSyntax(
        name: "admin", summary: "print a link that logs in to the dashboard",
        operands: [CommandOperand(name: "ACTION")],
        options: [
            CommandOption.config
        ],
        details: """
            ACTION is 'token'. It prints a link to the dashboard of the running proxy, at the address that
            'admin' names. The link logs in once, within 10 minutes. Anyone with the link sees what the proxy
            does and can change it. The session ends half an hour after the last page was closed.

                attache admin token

            The proxy is reached by the socket 'control' in the directory that 'state' names. Run the command as
            the proxy's user or as root. If no proxy runs, the exit status is 1.
            """)

    private let proxy: RunningProxy

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operand(0) == "token" else {
            throw arguments.error(Arguments.unknown("action", arguments.operand(0) ?? "", among: ["token"]))
        }
        proxy = try RunningProxy(by: arguments)
    }

    func run() throws(CommandError) -> Int32 { try proxy.show("/admin/token", by: "POST") }
}
