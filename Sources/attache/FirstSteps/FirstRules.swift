import Bytes
import Crypto
import IO
import Model
import Rules
import Upstream

/// The lines of a rule file for one server: those of a new file, or those that a file needs in addition.
struct FirstRules {
    /// The way in which the tools reach the server through the proxy.
    enum Way {
        /// Tools and proxy use http.
        case plain
        /// Tools use https, through a tunnel that the proxy decrypts.
        case intercept
        /// Tools use http, and the proxy uses https.
        case upgrade
    }

    /// Why a server's certificate is trusted.
    enum Trust {
        /// A file of root certificates beside the system's, by its absolute path.
        case anchor(String)
        /// This key, in spite of its problems, in front of the rule that refuses it.
        case key(SuggestedTrustRule, before: RuleReference?)
    }

    /// A parent proxy.
    struct Parent {
        let name: String
        let server: Configuration.Parent.Server
        /// The user of the URL.
        let user: String?
    }

    /// How a challenge is answered.
    struct Answer {
        let login: FirstLogin
        let methods: [AuthenticationMethod]
        var form: FirstForm?
        /// Whether the server sends no challenge, so that each request carries the login.
        var isPreemptive = false
        /// The existing rule that decides about the challenge.
        var rule: RuleReference?
    }

    /// The user that tools log in to the proxy as.
    struct User {
        let name: String
        let password: Secret
        /// The name of the users file, beside the rule file.
        let file: String
        /// The name of the file with the password, beside the rule file.
        var passwordFile: String { "\(name).proxy-password" }
    }

    let server: ExplainedRequest
    let way: Way
    /// The existing rules; empty for a new file.
    let former: Configuration
    let isNew: Bool
    /// The directory of the rule file.
    let folder: String
    /// Whether files of secrets that exist are replaced.
    let replaces: Bool
    let listen: Endpoint
    /// The address of the dashboard in a new file; nil: the file has no `admin`.
    var admin: Endpoint?
    /// The directory for the CA, where the user has no home for it.
    var state: String?
    var trust: Trust?
    var parent: Parent?
    var parentAnswer: Answer?
    var identity: Answer?
    var answer: Answer?
    var user: User?

    /// The logins of the server and of the parent, with the typed secrets.
    var logins: [FirstLogin] { [parentAnswer, identity, answer].compactMap { $0?.login } }

    /// Whether there is anything that `attache init` is for.
    var isOfUse: Bool { !logins.isEmpty || trust != nil || parent != nil || user != nil }

    /// The lines.
    var text: String {
        let asks = answer.map { ", which asks for \($0.words)" } ?? ""
        let verb = isNew ? "Made" : "Added"
        var lines = ["# \(verb) by 'attache init' for \(Console.printable(server.url))\(asks)."]
        if isNew {
            lines.append("# 'attache check' shows mistakes, and 'attache help rules' explains this file.")
            lines += ["", "listen \(listen)"]
            if let admin { lines.append("admin \(admin)") }
            if let state { lines.append("state \(RuleWord.quoted(state))") }
        }
        let parts = [network, users, parentLines, route, credentials, trustLines]
        for part in parts where !part.isEmpty {
            lines += (lines.count > 1 && part.first?.hasPrefix("egress") != true ? [""] : []) + part
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The first existing rule that the lines have to precede; nil: none.
    ///
    /// - Parameter file: the existing rule file.
    func successor(in file: RuleFile) -> RuleReference? {
        var rules = [parentAnswer?.rule, identity?.rule, answer?.rule]
        if !route.isEmpty || parent != nil { rules.append(decision.rule) }
        if case .key(_, let rule) = trust { rules.append(rule) }
        return rules.compactMap(\.self).reduce(nil) { first, rule in
            guard let first else { return rule }
            return file.isInFront(rule, of: first) == true ? rule : first
        }
    }

    // MARK: - The way to the server

    /// The existing route of the server.
    private var decision: RouteDecision {
        RuleSet(former).route(host: server.host.utf8Span.span, port: server.port)
    }

    /// Throws if the existing rules refuse the server.
    func check() throws(CommandError) {
        if decision.action == .deny, let rule = decision.rule {
            throw .failed("the route \(rule) refuses requests to \(server.host): change or remove it first")
        }
    }

    /// `egress`, for addresses and ports that a proxy does not connect to by default.
    private var network: [String] {
        let rules = RuleSet(former)
        let refused = { (addresses: [IPAddress], port: UInt16) in
            addresses.filter { !rules.egress.permits($0, port: port).isPermitted }.map { "\(Endpoint($0, port))" }
        }
        let addresses: [IPAddress] =
            if let address = IPAddress(server.host) {
                [address]
            } else if server.host == "localhost" || server.host.hasSuffix(".localhost") {
                [IPAddress(v4: 0x7F00_0001), IPAddress(v6High: 0, low: 1)]
            } else {
                HostsFile.addresses(of: server.host)
            }
        var entries = parent == nil || IPAddress(server.host) != nil ? refused(addresses, server.port) : []
        if let parent = parent?.server.address {
            let addresses = IPAddress(parent.host).map { [$0] } ?? HostsFile.addresses(of: parent.host)
            entries += refused(addresses, parent.port)
        }
        var words = entries.isEmpty ? [] : ["allow \(entries.joined(separator: " "))"]
        if way == .intercept, !rules.egress.permitsConnect(port: server.port) {
            words.append("connect-ports \(rules.egress.permitsConnect(port: 443) ? "443 " : "")\(server.port)")
        }
        return words.isEmpty ? [] : ["egress { \(words.joined(separator: "; ")) }"]
    }

    private var users: [String] {
        guard let user else { return [] }
        return [
            "# Tools log in to this proxy. 'attache password NAME' makes a line for another user.",
            "clients { authenticate basic; users file \(RuleWord.quoted(user.file)) }",
        ]
    }

    private var parentLines: [String] {
        guard let parent else { return [] }
        var lines = [
            "# Requests go through this proxy.",
            "parent \(RuleWord.quoted(parent.name)) { \(parent.server.scheme.rawValue) \(parent.server.address) }",
        ]
        if let parentAnswer {
            lines.append(parentAnswer.login.block)
            lines += challenge(parentAnswer, isOfParent: true)
        }
        return lines
    }

    private var route: [String] {
        var lines: [String] = []
        switch way {
        case .plain: break
        case .intercept where decision.action == .intercept: break
        case .upgrade where decision.upgrade != nil: break
        case .intercept:
            lines.append(
                "# Tools must trust the CA of this proxy. It can issue certificates for the hosts in 'names' only.")
        case .upgrade: lines.append("# Tools use http, and the proxy uses https.")
        }
        if way == .intercept, needsName { lines.append("authority { names \(server.host) }") }
        let isNeeded = lines.contains { $0.hasPrefix("#") }
        var words = isNeeded ? [way == .intercept ? "intercept" : "upgrade"] : []
        if let parent { words.append("via \(RuleWord.quoted(parent.name))") }
        let others = otherWords
        if !words.isEmpty, isNeeded || !isNew {
            lines.append("route \(pattern) { \((words + others).joined(separator: "; ")) }")
        }
        if isNew, let parent { lines.append("route * { via \(RuleWord.quoted(parent.name)) }") }
        return lines
    }

    /// The hosts of the new route: other ports of the server travel as before.
    private var pattern: String {
        guard server.port != (way == .plain ? 80 : 443) else { return server.host }
        return Configuration.HostAndPort(host: server.host, port: server.port).description
    }

    /// The words of the existing route, which the new one takes the place of for this host.
    private var otherWords: [String] {
        let decision = decision
        var words: [String] = []
        if way != .intercept, decision.action == .intercept { words.append("intercept") }
        if way == .plain, let upgrade = decision.upgrade {
            if case .port(let port) = upgrade { words.append("upgrade \(port)") } else { words.append("upgrade") }
        }
        if parent == nil, let list = decision.parentList {
            let names = list.hops.map { hop in
                if case .parent(let parent) = hop { RuleWord.quoted(parent.name) } else { "direct" }
            }
            words.append("via \(names.joined(separator: " "))")
        }
        if decision.decodesContent { words.append("decode") }
        if let minimum = decision.tls?.minimum {
            words.append("tls minimum 1.\(minimum.rawValue - TLSVersion.v10.rawValue)")
        }
        if let files = decision.tls?.revocation, !files.isEmpty {
            words.append("tls revocation \(files.map(RuleWord.quoted).joined(separator: " "))")
        }
        if decision.http2 != .yes { words.append("http2 \(decision.http2.rawValue)") }
        if decision.trace != .no { words.append("trace \(decision.trace.rawValue)") }
        return words
    }

    /// Whether the CA of the existing rules may not issue a certificate for the host.
    private var needsName: Bool {
        let authority = former.authority
        if authority.files != nil { return false }
        if authority.names.isEmpty { return !former.routes.contains { $0.action == .intercept } }
        return !authority.names.contains { name in
            switch name {
            case .domain(let domain, let withItself):
                withItself && server.host == domain || server.host.hasSuffix(".\(domain)")
            case .addresses(let prefix): IPAddress(server.host).map(prefix.contains) ?? false
            }
        }
    }

    // MARK: - Logins

    private var credentials: [String] {
        let answers = [identity, answer].compactMap(\.self)
        let hint = "# Only you can read the file of the secret. Change it, and the next request uses the new one."
        var lines = answers.contains { $0.login.secret != nil } ? [hint] : []
        lines += answers.map(\.login.block)
        for answer in answers { lines += [""] + challenge(answer, isOfParent: false) }
        return lines
    }

    private func challenge(_ answer: Answer, isOfParent: Bool) -> [String] {
        let place = isOfParent ? parent?.server.address : nil
        let (host, port) = place.map { ($0.host, $0.port) } ?? (server.host, server.port)
        let what = isOfParent ? "\(host), proxy" : answer.methods == [.clientCertificate] ? "\(host), client" : host
        var lines = ["challenge \(RuleWord.quoted(former.freeRuleName(what))) {"]
        if isOfParent { lines.append("    proxy  yes") }
        lines += ["    host   \(host)", "    port   \(port)"]
        lines.append("    method \(answer.methods.map(\.rawValue).joined(separator: " "))")
        let isHandshake = answer.methods == [.clientCertificate]
        let isSecure = isOfParent ? parent?.server.scheme == .https : server.protocol == .https
        if isSecure, !isHandshake { lines.append("    secure yes") }
        if let form = answer.form { lines.append("    form   { \(form.words) }") }
        if answer.isPreemptive { lines.append("    preempt always") }
        return lines + ["    use    \(RuleWord.quoted(answer.login.name))", "}"]
    }

    private var trustLines: [String] {
        switch trust {
        case nil: return []
        case .anchor(let path):
            return [
                "challenge \(RuleWord.quoted(former.freeRuleName("\(server.host), its certificate"))) {",
                "    host   \(server.host)", "    port   \(server.port)", "    method server-trust",
                "    anchor \(RuleWord.quoted(path))", "    trust", "}",
            ]
        case .key(let rule, _):
            var rule = rule
            rule.title = former.freeRuleName("\(server.host), its certificate")
            return ["# Trusted because you compared this key. Remove the rule when the server has a good certificate."]
                + rule.text.split(separator: "\n").map(String.init)
        }
    }

    // MARK: - Names

    /// A name for a credential that the existing rules do not have, and whose secret has no file yet.
    func uniqueCredential(_ name: String) -> String {
        let taken = Set((former.credentials.map(\.name) + logins.map(\.name)).map { ExactText($0) })
        return Configuration.free(name) { name in
            taken.contains(ExactText(name))
                || !replaces && SecretFileName.all(name).contains { SmallFile.exists("\(folder)/\($0)") }
        }
    }

    /// A name for a file beside the rule file.
    func uniqueFile(_ name: String) -> String {
        replaces ? name : Configuration.free(name) { SmallFile.exists("\(folder)/\($0)") }
    }

    /// A name for a parent that the existing rules do not have.
    func uniqueParent(_ name: String) -> String {
        Configuration.free(name) { name in name == "direct" || former.parents.contains { $0.name == name } }
    }

    /// The names of this machine's hosts file, which the proxy's resolver reads before it asks DNS.
    private enum HostsFile {
        private static let limit = 4 << 20

        /// Returns the addresses of a name, in the file's order; empty if the file does not have the name.
        static func addresses(of name: String) -> [IPAddress] {
            // c-ares reads the variable too.
            let path = Environment.value(of: "CARES_HOSTS") ?? "/etc/hosts"
            guard let bytes = try? SmallFile.read(path, limit: limit) else { return [] }
            var addresses: [IPAddress] = []
            for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
                let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
                guard let first = words.first, let address = IPAddress(String(first)), !addresses.contains(address),
                    words.dropFirst().contains(where: { $0.lowercased() == name.lowercased() })
                else { continue }
                addresses.append(address)
            }
            return addresses
        }
    }
}

extension FirstRules.Answer {
    /// The methods as people write them.
    var words: String {
        if form != nil { return "a login by a form" }
        return methods == [.clientCertificate] ? "a client certificate" : WantedLogin.words(methods)
    }
}
