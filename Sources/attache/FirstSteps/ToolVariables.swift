import Bytes
import Rules

/// The variables that make tools use the proxy.
struct ToolVariables {
    typealias Variable = (name: String, value: String)

    /// The URL of the proxy.
    let proxy: String
    /// The URL of the proxy for tools that speak SOCKS; nil if no listener does.
    private let socks: String?
    private let endpoint: Endpoint
    /// The hosts that tools connect to directly.
    private let direct: [String]
    /// The files; nil if no CA has to be trusted.
    private let files: ToolFiles?

    /// - Throws: if no listener has a known port.
    init(_ configuration: Configuration, files: ToolFiles?) throws(CommandError) {
        let known = configuration.listeners.filter { ($0.endpoint?.port ?? 0) != 0 && !$0.isTransparent }
        guard let listener = known.first(where: { $0.tls == nil }) ?? known.first,
            let endpoint = listener.endpoint?.reachable
        else { throw Self.noPort(in: configuration.listeners) }
        proxy = "\(listener.tls == nil ? "http" : "https")://\(endpoint)"
        socks = Self.socks(of: known)
        self.endpoint = endpoint
        direct = ["localhost", "127.0.0.1", "::1"].filter { !Self.isServed($0, by: configuration) }
        self.files = files
    }

    /// The URL of the first listener that speaks SOCKS; nil if none does. No tool speaks it inside TLS.
    @inline(never)
    private static func socks(of listeners: [Configuration.Listener]) -> String? {
        for listener in listeners where listener.speaksSOCKS && listener.tls == nil {
            if let endpoint = listener.endpoint { return "socks5h://\(endpoint.reachable)" }
        }
        return nil
    }

    @inline(never)
    private static func noPort(in listeners: [Configuration.Listener]) -> CommandError {
        let reason =
            if listeners.contains(where: { $0.endpoint == nil }) {
                "no variable names a unix socket ('attache help sockets')"
            } else if listeners.contains(where: \.isTransparent) {
                "no variable names a transparent listener ('attache help transparent')"
            } else { "the rule file has port 0" }
        return .configuration("\(reason): write a port, such as: listen 127.0.0.1:3128")
    }

    /// Whether tools reach that host of this machine through the proxy: `egress` names one of its addresses.
    private static func isServed(_ host: String, by configuration: Configuration) -> Bool {
        let addresses = IPAddress(host).map { [$0] } ?? [IPAddress(v4: 0x7F00_0001), IPAddress(v6High: 0, low: 1)]
        return configuration.egress.entries.contains { entry in
            entry.verdict == .allow
                && entry.prefixes.contains { prefix in addresses.contains { prefix.contains($0) } }
        }
    }

    /// The variables for a file that replaces the system's root certificates: OpenSSL, Go and Ruby; curl; requests;
    /// pip; git; the AWS tools.
    private static let replacing = [
        "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "GIT_SSL_CAINFO", "AWS_CA_BUNDLE",
    ]
    /// The variables for a file beside the tool's own.
    private static let adding = ["NODE_EXTRA_CA_CERTS", "DENO_CERT"]

    var all: [Variable] {
        let exceptions = direct.joined(separator: ",")
        // Tools read one of the two spellings. curl ignores HTTP_PROXY, because a CGI script gets it from a field of
        // the request.
        var all: [Variable] = [
            ("http_proxy", proxy), ("https_proxy", proxy), ("no_proxy", exceptions), ("HTTP_PROXY", proxy),
            ("HTTPS_PROXY", proxy), ("NO_PROXY", exceptions),
        ]
        if let socks { all += [("all_proxy", socks), ("ALL_PROXY", socks)] }
        if let files {
            all += Self.replacing.map { ($0, files.bundle) } + Self.adding.map { ($0, files.certificate) }
        }
        all.append(("JAVA_TOOL_OPTIONS", java))
        return all
    }

    /// The options for Java, which reads no other variable.
    private var java: String {
        var words = ["http", "https"].flatMap {
            ["-D\($0).proxyHost=\(endpoint.address)", "-D\($0).proxyPort=\(endpoint.port)"]
        }
        words.append("-Dhttp.nonProxyHosts=\(direct.map { $0.contains(":") ? "[\($0)]" : $0 }.joined(separator: "|"))")
        if let files {
            let path = files.javaStore
            let blanks = path.contains(" ") ? "\"" : ""
            words.append("-Djavax.net.ssl.trustStore=\(blanks)\(path)\(blanks)")
            words.append("-Djavax.net.ssl.trustStorePassword=\(ToolFiles.javaPassword)")
        }
        return words.joined(separator: " ")
    }

    /// The languages in which variables are set.
    enum Syntax: String, CaseIterable {
        case sh
        case fish
        case powershell
        /// A file for `docker run --env-file`.
        case docker
        /// Lines of a unit.
        case systemd

        /// - Parameter files: the files that the variables name.
        func text(_ variables: [ToolVariables.Variable], files: ToolFiles?) -> String {
            (head(files) + variables.map { line($0.name, $0.value) }).joined(separator: "\n")
        }

        private func line(_ name: String, _ value: String) -> String {
            switch self {
            case .sh: "export \(name)=\(ShellWord.always(value))"
            case .fish:
                "set -gx \(name) '\(value.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
            case .powershell: "$env:\(name) = '\(Self.doublingQuotes(value))'"
            case .docker:
                value.contains(where: \.isNewline)
                    ? "# \(name) is left out: its value has a line feed, which such a file cannot hold"
                    : "\(name)=\(value)"
            case .systemd: "Environment=\"\(name)=\(Self.escaped(value))\""
            }
        }

        /// Doubles the quotes. PowerShell also treats typographic quotes as single quotes.
        private static func doublingQuotes(_ value: String) -> String {
            let quotes = "'\u{2018}\u{2019}\u{201A}\u{201B}".unicodeScalars
            return value.unicodeScalars.map { quotes.contains($0) ? "\($0)\($0)" : "\($0)" }.joined()
        }

        /// Escapes a double-quoted word of a unit (systemd.syntax(7)).
        private static func escaped(_ value: String) -> String {
            value.unicodeScalars.map { scalar in
                switch scalar {
                case "\\", "\"": "\\\(scalar)"
                case "%": "%%"
                case "\n": "\\n"
                case "\r": "\\r"
                default: "\(scalar)"
                }
            }.joined()
        }

        private func head(_ files: ToolFiles?) -> [String] {
            switch self {
            case .sh, .fish, .powershell: return []
            case .systemd: return ["[Service]"]
            case .docker:
                var lines = [
                    "# For docker run --env-file. The container must share the proxy's network, by --network host or",
                    "# --network container:NAME: in another, 127.0.0.1 is the container itself.",
                ]
                if let files {
                    let mounts = [files.certificate, files.bundle, files.javaStore].map { path in
                        "-v \(ShellWord.quoted("\(path):\(path):ro".replacing("\n", with: "?")))"
                    }
                    lines.append("# Mount the CA files: \(mounts.joined(separator: " "))")
                }
                return lines
            }
        }
    }
}
