import Admin
import Rules

/// `attache metrics`: the metrics of the running proxy, and what to watch them with.
struct MetricsCommand: Command {
    static let syntax = CommandSyntax(
        name: "metrics",
        summary: "show the running proxy's metrics, or a Grafana board or alert rules for them",
        options: [
            CommandOption(
                name: "config", value: "FILE",
                summary: ["the rule file it runs with; default: ./proxy.conf, else /etc/attache/proxy.conf"]),
            CommandOption(name: "grafana", summary: ["a board for Grafana, as JSON to import"]),
            CommandOption(name: "alerts", summary: ["alert rules for Prometheus, as a file for 'rule_files'"]),
        ],
        details: """
            Shows what '/metrics' of the admin listener has, in Prometheus' text format; no admin listener
            need be there. The board and the rules are the same for every proxy, and none need run: the
            board asks for the data source and the instances, the rules hold for all instances.

            The proxy is reached by the socket 'control' in the directory that 'state' names, as its own
            user or as root. Where none runs the exit status is 1.

                attache metrics --alerts > /etc/prometheus/attache.rules.yml
            """)

    private enum Page {
        case board
        case alerts
        case running(RunningProxy)
    }

    private let page: Page

    init(_ arguments: Arguments) throws(CommandError) {
        switch (arguments.has("grafana"), arguments.has("alerts")) {
        case (true, true): throw arguments.error("--grafana and --alerts are two files: ask for one at a time")
        case (true, false): page = .board
        case (false, true): page = .alerts
        case (false, false):
            let path = try RuleFilePath.choose(arguments.value(of: "config"))
            page = .running(try RunningProxy(of: try RuleFile.read(path), at: path))
        }
    }

    func run() throws(CommandError) -> Int32 {
        switch page {
        case .board: Console.printText(GrafanaBoard.json)
        case .alerts: Console.printText(AlertRules.yaml)
        case .running(let proxy):
            guard let metrics = try proxy.ask("GET", "/metrics") else { throw proxy.absence }
            Console.printText(metrics)
        }
        return ExitStatus.success
    }
}
