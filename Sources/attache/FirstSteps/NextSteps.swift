import Bytes
import IO
import Model
import Rules

/// The commands that lead from a rule file to a tool's first response.
struct NextSteps {
    /// The absolute path of the rule file.
    let rules: String
    let server: ExplainedRequest
    let way: FirstRules.Way
    /// The URL of the proxy; nil if the rule file has no port that is known.
    let proxy: String?
    /// Whether a proxy runs with this file.
    let isRunning: Bool
    /// The user that tools log in to the proxy as, and the file of the password.
    var user: (name: String, file: String)?

    var text: String {
        let url = ShellWord.quoted(Console.printable(clientURL))
        let program = Self.program
        let config = RuleFilePath.find(nil) == rules ? "" : " --config \(ShellWord.quoted(rules))"
        var lines =
            isRunning
            ? ["Load the new rules into the running proxy:", "    \(program) reload\(config)"]
            : ["Start the proxy:", "    \(program) run\(config)"]
        let environment = "    eval \"$(\(program) env\(config))\""
        if way == .intercept || proxy == nil {
            lines += [
                "In the terminal of the tool, set the proxy\(way == .intercept ? " and the CA to trust" : ""):",
                environment,
                "    curl -i \(url)",
            ]
        } else {
            lines += [
                "Use a tool with it, in another terminal:", "    http_proxy=\(proxyWord) curl -i \(url)",
                "For all tools of that terminal:", environment,
            ]
        }
        if user != nil, way == .intercept {
            lines.append("Tools must log in: put user and password into the proxy's URL ('attache help clients').")
        }
        lines.append("Other shells, Docker and systemd: \(program) env --shell fish|powershell|docker|systemd")
        return lines.joined(separator: "\n")
    }

    /// The name by which this program was called.
    private static var program: String {
        let name = ProcessArguments.all.first ?? "attache"
        return name.contains("/") ? ShellWord.quoted(name) : "attache"
    }

    /// Returns the URL that tools use.
    private var clientURL: String {
        guard way == .upgrade, server.protocol == .https else { return server.url }
        return Self.upgraded(server)
    }

    /// The http URL by which a tool asks for an https URL.
    static func upgraded(_ server: ExplainedRequest) -> String {
        let host = server.host.contains(":") ? "[\(server.host)]" : server.host
        return "http://\(host)\(server.port == 443 ? "" : ":\(server.port)")\(server.target)"
    }

    private var proxyWord: String {
        guard let proxy else { return "" }
        guard let user, let start = proxy.firstRange(of: "://")?.upperBound else { return proxy }
        return "\"\(proxy[..<start])\(user.name):$(cat \(ShellWord.quoted(user.file)))@\(proxy[start...])\""
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
