import Admin

/// The command `attache metrics`: prints the metrics of the running proxy, and files to monitor them.
struct MetricsCommand: Command {
    static let syntax = CommandSyntax(
        name: "metrics",
        summary: "print metrics of the running proxy, a Grafana board, or alert rules",
        options: [
            CommandOption.config,
            CommandOption(name: "grafana", summary: ["print a Grafana board, as JSON to import"]),
            CommandOption(name: "alerts", summary: ["print alert rules for Prometheus, as a file for 'rule_files'"]),
        ],
        details: """
            Prints the same text as '/metrics' at the admin address, in Prometheus' format. It needs no admin
            address. The board and the alert rules need no running proxy, and are the same for every proxy. The
            board asks for the data source and the instances. The alert rules are for all instances.

                attache metrics --alerts > /etc/prometheus/attache.rules.yml

            The proxy is reached by the socket 'control' in the directory that 'state' names. Run the command as
            the proxy's user or as root. If no proxy runs, the exit status is 1.
            """)

    private enum Page {
        case board
        case alerts
        case running(RunningProxy)
    }

    private let page: Page

    init(_ arguments: Arguments) throws(CommandError) {
        switch (arguments.has("grafana"), arguments.has("alerts")) {
        case (true, true): throw arguments.error("--grafana and --alerts exclude each other: run the command twice")
        case (true, false): page = .board
        case (false, true): page = .alerts
        case (false, false):
            page = .running(try RunningProxy(by: arguments))
        }
    }

    func run() throws(CommandError) -> Int32 {
        switch page {
        case .board: Console.printText(Monitoring.grafanaBoard)
        case .alerts: Console.printText(Monitoring.alertRules)
        case .running(let proxy): return try proxy.show("/metrics")
        }
        return ExitStatus.success
    }
}
