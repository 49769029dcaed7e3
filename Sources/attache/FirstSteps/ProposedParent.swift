import IO
import Model
import Rules

/// The parent proxy that the environment of the terminal names, for a person to confirm.
struct ProposedParent {
    let server: Configuration.Parent.Server
    let user: String?
    private let variable: String

    /// Nil if there is no terminal, if the variable is not set or names this proxy, or if `no_proxy` excepts the server.
    init?(for request: ExplainedRequest, besides listen: Endpoint) {
        guard Terminal.isStandardInput else { return nil }
        // As curl reads them: a CGI program's HTTP_PROXY may come from a client's field `Proxy`.
        let names =
            (request.protocol == .https ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
        guard let name = names.first(where: { Environment.text(of: $0) != nil }),
            let text = Environment.text(of: name),
            let (server, user) = try? ServerURL.parent(text, isLenient: true)
        else { return nil }
        let isOurs = server.address.port == listen.port && Endpoint("\(server.address)") == listen.reachable
        if isOurs || Self.isExcepted(request.host) { return nil }
        self.server = server
        self.user = user
        variable = name
    }

    func ask() throws(CommandError) -> Bool {
        try Console.confirms("\(variable) names the proxy \(server.address): send requests through it?")
    }

    /// Whether the server is reached directly, by `no_proxy`.
    private static func isExcepted(_ host: String) -> Bool {
        let list = Environment.value(of: "no_proxy") ?? Environment.value(of: "NO_PROXY") ?? ""
        return list.split(whereSeparator: { $0 == "," || $0.isWhitespace }).contains { entry in
            let name = entry.lowercased()
            if name == "*" || name == host { return true }
            return host.hasSuffix(name.hasPrefix(".") ? name : ".\(name)")
        }
    }
}
