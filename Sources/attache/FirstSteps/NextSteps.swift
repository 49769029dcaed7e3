import Bytes
import IO
import Rules

/// The commands that lead from a rule file to a tool's first response.
struct NextSteps {
    let rules: String
    let server: ExplainedRequest
    let way: FirstRules.Way
    /// The URL of the proxy.
    let proxy: String

    var text: String {
        let url = ShellWord.quoted(
            Console.printable(FirstServer.clientURL(of: server, upgraded: way == .upgrade)))
        let program = ShellWord.program
        let config = rules == "./proxy.conf" || rules == "proxy.conf" ? "" : " --config \(ShellWord.quoted(rules))"
        var lines = ["Start the proxy:", "    \(program) run\(config)"]
        if way == .intercept {
            lines += [
                "In the terminal of the tool, set the proxy and the CA to trust:",
                "    eval \"$(\(program) env\(config))\"", "    curl -i \(url)",
            ]
        } else {
            lines += [
                "Use a tool with it, in another terminal:", "    http_proxy=\(proxy) curl -i \(url)",
                "For all tools of that terminal:", "    eval \"$(\(program) env\(config))\"",
            ]
        }
        lines.append("Other shells, Docker and systemd: \(program) env --shell fish|powershell|docker|systemd")
        return lines.joined(separator: "\n")
    }
}

extension Endpoint {
    /// The address that a client on this machine connects to.
    var reachable: Endpoint {
        switch address {
        case IPAddress(v4: 0): Endpoint(IPAddress(v4: 0x7F00_0001), port)
        case IPAddress(v6High: 0, low: 0): Endpoint(IPAddress(v6High: 0, low: 1), port)
        default: self
        }
    }
}
