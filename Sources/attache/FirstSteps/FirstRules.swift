import Bytes
import Model
import Rules

/// A first rule file: for one server, and one credential.
struct FirstRules {
    /// How the tools reach the server through the proxy.
    enum Way {
        /// By http, as the proxy reaches it.
        case plain
        /// By https, through a tunnel that the proxy looks into.
        case intercept
        /// By http, while the proxy goes on by https.
        case upgrade
    }

    let server: ExplainedRequest
    let way: Way
    let listen: Endpoint
    /// A file of roots beside the system's, by its whole path; nil: these alone.
    var anchor: String?
    /// The directory for the authority, where the user has no home for it.
    var state: String?

    /// Without a credential: enough to ask the server.
    var probing: String { (settings + trust).joined(separator: "\n") + "\n" }

    func text(for login: FirstLogin, secretFile: String) -> String {
        var lines = [
            "# Made by 'attache init' for \(Console.printable(server.url)), which asks for \(login.wanted.words).",
            "# 'attache check' shows mistakes, and 'attache help rules' explains this file.",
            "",
        ]
        lines += settings
        lines += [
            "",
            "# Only you can read this file. Change the password in it, and the next request uses the new one.",
            login.block(secretFile: secretFile), "",
            "challenge \(RuleWord.quoted(server.host)) {", "    host   \(server.host)", "    port   \(server.port)",
            "    method \(login.wanted.methods.map(\.rawValue).joined(separator: " "))",
        ]
        if server.protocol == .https { lines.append("    secure yes") }
        lines += ["    use    \(FirstLogin.name)", "}"]
        return (lines + trust).joined(separator: "\n") + "\n"
    }

    private var settings: [String] {
        var lines = ["listen \(listen)"]
        if let state { lines.append("state \(RuleWord.quoted(state))") }
        let egress = egress
        if !egress.isEmpty { lines.append("egress { \(egress.joined(separator: "; ")) }") }
        switch way {
        case .plain: break
        case .intercept:
            lines += [
                "", "# Tools must trust the CA of this proxy. It can issue certificates for this host only.",
                "authority { names \(server.host) }", "route \(server.host) { intercept }",
            ]
        case .upgrade:
            lines += ["", "# Tools use http, and the proxy uses https.", "route \(server.host) { upgrade }"]
        }
        return lines
    }

    /// The addresses and ports that a proxy does not connect to unless it is told.
    private var egress: [String] {
        var entries: [String] = []
        if let address = IPAddress(server.host) {
            entries = [Endpoint(address, server.port).description].filter { _ in Self.isRefused(address) }
        } else if server.host == "localhost" || server.host.hasSuffix(".localhost") {
            entries = ["127.0.0.1:\(server.port)", "[::1]:\(server.port)"]
        } else {
            let local = HostsFile.addresses(of: server.host).filter(Self.isRefused)
            entries = local.map { Endpoint($0, server.port).description }
        }
        var lines = entries.isEmpty ? [] : ["allow \(entries.joined(separator: " "))"]
        if way == .intercept, server.port != 443 { lines.append("connect-ports 443 \(server.port)") }
        return lines
    }

    private static func isRefused(_ address: IPAddress) -> Bool {
        !RuleSet(Configuration()).egress.permits(address, port: 443).isPermitted
    }

    private var trust: [String] {
        guard let anchor else { return [] }
        return [
            "", "challenge \(RuleWord.quoted("\(server.host), its certificate")) {", "    host   \(server.host)",
            "    anchor \(RuleWord.quoted(anchor))", "    trust", "}",
        ]
    }
}

/// A rule file that is not written yet; all else is the machine's.
struct DraftSource: SourceReader {
    let path: String
    let text: String
    private let files = FileSource()

    init(_ text: String, at path: String) {
        self.path = path
        self.text = text
    }

    func bytes(at path: String, limit: Int) throws(SourceError) -> [UInt8] {
        path == self.path ? Array(text.utf8) : try files.bytes(at: path, limit: limit)
    }

    var today: Day? { files.today }
    func isFile(_ path: String) -> Bool { files.isFile(path) }
    func exposedMode(of path: String) -> UInt32? { path == self.path ? nil : files.exposedMode(of: path) }
    func asciiForm(ofHost name: String) -> String? { files.asciiForm(ofHost: name) }
    func environment(_ name: String) -> String? { files.environment(name) }
}
