import Bytes
import Credentials
import Crypto
import IO
import Model
import Rules
import TLS

/// `attache init`: writes the rules for a server that asks for a login, once the server has accepted it.
struct InitCommand: Command {
    static let syntax = CommandSyntax(
        name: "init", summary: "write the rules for a server that asks for a login",
        operands: [CommandOperand(name: "URL", isOptional: true)],
        options: [
            CommandOption(
                name: "user", value: "NAME",
                summary: ["the user, the Kerberos principal or the OAuth client; default: asks", "on the terminal"]),
            CommandOption(
                name: "password-file", value: "FILE",
                summary: [
                    "the file with the password or client secret, or - for standard",
                    "input; default: asks on the terminal",
                ]),
            CommandOption(
                name: "keytab", value: "FILE", summary: ["Kerberos: the keys of the principal, instead of a password"]),
            CommandOption(
                name: "ccache", value: "NAME",
                summary: ["Kerberos: a ticket cache that another program keeps current"]),
            CommandOption(name: "token", value: "FILE", summary: ["a bearer token; the file stays where it is"]),
            CommandOption(
                name: "oauth2", value: "URL", summary: ["get the token from this endpoint, by client ID and secret"]),
            CommandOption(
                name: "issuer", value: "URL",
                summary: ["get the token from this issuer, whose metadata names the endpoint"]),
            CommandOption(
                name: "registry", value: "URL",
                summary: ["of a container registry: the token server that gets user and password"]),
            CommandOption(
                name: "certificate", value: "FILE",
                summary: ["a client certificate with its issuers (PEM); needs --key"]),
            CommandOption(name: "key", value: "FILE", summary: ["the private key of the certificate (PEM)"]),
            CommandOption(
                name: "intercept",
                summary: ["for an https URL: decrypt the tunnel; tools must trust the proxy's", "CA"]),
            CommandOption(
                name: "upgrade", summary: ["for an https URL: tools use http, and the proxy uses https"]),
            CommandOption(
                name: "anchor", value: "FILE",
                summary: ["root certificates (PEM) to trust for this server, besides the", "system's"]),
            CommandOption(
                name: "parent", value: "URL",
                summary: [
                    "another proxy on the way, such as http://proxy.example.com:8080; its", "user may be in the URL",
                ]),
            CommandOption(
                name: "require-login", value: "NAME",
                summary: ["tools must log in to this proxy: create a user of this name"]),
            CommandOption(
                name: "listen", value: "ADDRESS:PORT",
                summary: ["of a new rule file: where tools connect; default: 127.0.0.1:3128"]),
            CommandOption(
                name: "admin", value: "ADDRESS:PORT",
                summary: [
                    "of a new rule file: the dashboard; default: 127.0.0.1 and the port", "before the one of --listen",
                ]),
            CommandOption.config,
            CommandOption(name: "dry-run", summary: ["show the lines, and write nothing"]),
            CommandOption(name: "force", summary: ["replace the rule file instead of adding to it"]),
        ],
        details: """
            Asks the server which login it wants (nothing secret is sent), then asks you for user and password.
            It tries them once: a wrong password costs one attempt. When the server accepts them, it writes the
            rules and a file with the secret. Only you can read that file. Then it prints the next commands.

                attache init http://ci.example.com/job
                attache init --intercept https://ci.example.com/
                attache init http://wiki.example.com/ --user alice@EXAMPLE.COM --keytab alice.keytab
                attache init --upgrade https://api.example.com/ --certificate me.pem --key me.key
                attache init http://intranet/ --parent http://proxy.example.com:8080
                attache init http://ci.example.com/job --user builder --password-file - < password.txt

            If the rule file exists, the lines are added to it: the rest stays as it is, with comments and order.
            They go before a rule that would decide otherwise. The whole file is checked first. 'attache add' is
            the same command. A new rule file is ~/.config/attache/proxy.conf, which every later command finds.

            If the server announces its tokens, as MCP servers do, the command shows the issuer, and asks whether
            your client secret is for it. The secret goes nowhere else.

            At a container registry, the command shows the token server that the registry names, and asks whether
            your password is for it. --registry URL is that answer. The password goes nowhere else.

            A login page is recognised by its form: the command shows the fields, logs in once, and says how the
            server answered. If the certificate of the server is not trusted, it shows the certificates and the
            pin, and asks. On a terminal, it proposes the proxy that http_proxy names.

            A secret is never an argument, because every user of the machine could see it. If standard input is
            not a terminal, secrets are read from there, one in each line.
            """)

    private let url: String?
    private let entry: LoginEntry
    private let way: FirstRules.Way
    private let anchor: String?
    private let listen: Endpoint
    private let admin: Endpoint?
    private let path: String
    private let parent: String?
    private let user: String?
    private let isDry: Bool
    private let replaces: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        url = arguments.operand(0)
        if url == nil, !Terminal.isStandardInput { throw arguments.error("URL is missing") }
        entry = try Self.entry(arguments)
        if arguments.has("intercept"), arguments.has("upgrade") {
            throw arguments.error("'--intercept' and '--upgrade' exclude each other")
        }
        way = arguments.has("intercept") ? .intercept : arguments.has("upgrade") ? .upgrade : .plain
        listen = try Self.endpoint("listen", arguments) ?? Endpoint(IPAddress(v4: 0x7F00_0001), 3128)
        admin = try Self.endpoint("admin", arguments)
        path = RuleFilePath.toWrite(arguments.value(of: "config"))
        isDry = arguments.has("dry-run")
        replaces = arguments.has("force")
        anchor = try arguments.value(of: "anchor").map(WholePath.of)
        parent = arguments.value(of: "parent")
        user = arguments.value(of: "require-login")
        if let user,
            user.isEmpty || user.contains(where: { ":/@#?%\"\\".contains($0) || $0.isWhitespace || !$0.isASCII })
        {
            throw arguments.error("'--require-login' is a name of ASCII letters, digits and characters such as . and -")
        }
    }

    private static func endpoint(_ option: String, _ arguments: Arguments) throws(CommandError) -> Endpoint? {
        guard let text = arguments.value(of: option) else { return nil }
        guard let endpoint = Endpoint(text) else {
            throw arguments.error("'--\(option)' is an address and a port, such as 127.0.0.1:3128")
        }
        return endpoint
    }

    private static func entry(_ arguments: Arguments) throws(CommandError) -> LoginEntry {
        let exclusive = ["password-file", "keytab", "ccache", "token"].filter { arguments.has($0) }
        if exclusive.count > 1 {
            throw arguments.error("'--\(exclusive[0])' and '--\(exclusive[1])' exclude each other")
        }
        let servers = ["oauth2", "issuer", "registry"].filter { arguments.has($0) }
        let others = servers.dropFirst() + exclusive.filter { $0 != "password-file" }
        if let server = servers.first, let other = others.first {
            throw arguments.error("'--\(server)' and '--\(other)' exclude each other")
        }
        guard arguments.has("certificate") == arguments.has("key") else {
            throw arguments.error("'--certificate' and '--key' belong together")
        }
        var entry = LoginEntry(user: arguments.value(of: "user"), file: arguments.value(of: "password-file"))
        entry.keytab = try arguments.value(of: "keytab").map(WholePath.of)
        entry.token = try arguments.value(of: "token").map(WholePath.of)
        entry.endpoint = arguments.value(of: "oauth2")
        entry.issuer = arguments.value(of: "issuer")
        entry.registry = arguments.value(of: "registry")
        for (option, url) in [("issuer", entry.issuer), ("registry", entry.registry)] {
            guard let url, TokenIssuer(url)?.url.isSafe != true else { continue }
            throw arguments.error("'--\(option)' is an https URL without a query, or http of this machine")
        }
        if let name = arguments.value(of: "ccache") {
            entry.ticketCache = TicketCacheName(typed: name) == nil ? try WholePath.of(name) : name
        }
        if let certificate = arguments.value(of: "certificate"), let key = arguments.value(of: "key") {
            entry.identity = (try WholePath.of(certificate), try WholePath.of(key))
        }
        return entry
    }

    func run() throws(CommandError) -> Int32 {
        let said: String
        if let url { said = url } else { said = try ServerURL.ask() }
        let request = try ServerURL.request(said, by: way)
        let edit = try RuleFileEdit(path, replacing: replaces)
        if !isDry { try edit.requireWritable() }
        var rules = try rules(for: request, edit)
        if let user { rules.user = try account(user, edit, rules) }
        var setup = ServerSetup(rules, edit, entry)
        try setup.run()
        let file = try edit.read(setup.bytes)
        if file.diagnostics.count > edit.former?.diagnostics.count ?? 0 { Console.write(file.report) }
        if isDry || edit.former != nil {
            Console.print(isDry ? "\(path) would get these lines:" : "added to \(path):")
            for line in setup.rules.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                Console.print(line.isEmpty ? "+" : "+ \(line)")
            }
        }
        if isDry { return ExitStatus.success }
        try FirstFiles(edit: edit, rules: setup.rules).write(setup.bytes)
        if way == .intercept { Console.print(try Self.authority(of: try file.valid())) }
        Console.print("\n\(try steps(setup.rules, file).text)")
        return ExitStatus.success
    }

    private func rules(for request: ExplainedRequest, _ edit: RuleFileEdit) throws(CommandError) -> FirstRules {
        let isNew = edit.former == nil
        var rules = FirstRules(
            server: request, way: way, former: edit.configuration, isNew: isNew,
            folder: RuleFileEdit.folder(of: path), replaces: replaces, listen: listen)
        if isNew {
            try Self.requireFree(listen, "listen")
            rules.admin = try adminListener()
            if way == .intercept, StatePath.find(nil) == nil { rules.state = "attache-state" }
        }
        rules.trust = anchor.map { .anchor($0) }
        if let parent {
            let (server, user) = try ServerURL.parent(parent)
            rules.parent = .init(name: rules.uniqueParent(server.address.host), server: server, user: user)
        } else if isNew, let proposed = ProposedParent(for: request, besides: listen), try proposed.ask() {
            rules.parent = .init(
                name: rules.uniqueParent(proposed.server.address.host), server: proposed.server, user: proposed.user)
        }
        return rules
    }

    private func account(
        _ user: String, _ edit: RuleFileEdit, _ rules: FirstRules
    ) throws(CommandError) -> FirstRules.User {
        guard edit.configuration.clients == Configuration.Clients() else {
            throw .failed(
                "\(path) has 'clients' already: write 'authenticate basic' and 'users file PATH' there, and run 'attache "
                    + "password \(user) >> PATH'")
        }
        guard let bytes = try? RandomBytes.make(16) else { throw .failed("the system gives no random bytes") }
        var text = Array(Hex.encode(bytes).utf8)
        return FirstRules.User(name: user, password: Secret(wiping: &text), file: rules.uniqueFile("users"))
    }

    /// Throws if another program listens on the address of that option.
    private static func requireFree(_ endpoint: Endpoint, _ option: String) throws(CommandError) {
        do throws(IOError) { try Listener.probe(SocketAddress(endpoint.address, port: endpoint.port)) } catch {
            throw .failed("\(error): use --\(option) for another address")
        }
    }

    /// The address of the dashboard: the one that was given, else the first free one of this machine beside `listen`.
    private func adminListener() throws(CommandError) -> Endpoint? {
        if let admin {
            try Self.requireFree(admin, "admin")
            return admin
        }
        if listen.port < 2 { return nil }
        let ports = [listen.port - 1] + (1...9).filter { listen.port <= UInt16.max - $0 }.map { listen.port + $0 }
        let address = IPAddress(v4: 0x7F00_0001)
        return ports.first { (try? Listener.probe(SocketAddress(address, port: $0))) != nil }.map {
            Endpoint(address, $0)
        }
    }

    /// Makes the CA if it is missing, and a new one if it may not issue for the hosts of the rules.
    /// - Returns: a sentence about it.
    private static func authority(of configuration: Configuration) throws(CommandError) -> String {
        guard let store = CAStore(configuration) else {
            throw .configuration(StatePath.unknown(for: "the CA"))
        }
        let now = SystemClock.wallTime
        return try CommandError.failing {
            try store.open(host: Environment.hostName, at: now)
            var addition = ""
            switch store.refresh(at: now) {
            case nil: break
            case .otherNames:
                try store.renew()
                addition = "; it is new, for all hosts of the rules: tools must trust it again, by the command below"
            case let problem?: Console.error("\(problem)")
            }
            let certificate = try store.certificate()
            return "the CA: \(store.place.certificate), SHA-256 \(certificate.fingerprint)\(addition)"
        }
    }

    private func steps(_ rules: FirstRules, _ file: RuleFile) throws(CommandError) -> NextSteps {
        let configuration = try file.valid()
        let variables = try? ToolVariables(configuration, files: nil)
        let running = try? RunningProxy(configuration, at: path).ask("GET", "/rules")
        return NextSteps(
            rules: path, server: rules.server, way: way, proxy: variables?.proxy, isRunning: (running ?? nil) != nil,
            user: rules.user.map { ($0.name, "\(rules.folder)/\($0.passwordFile)") })
    }
}

/// `attache add`: the same as `attache init`.
struct AddCommand: Command {
    static let syntax = CommandSyntax(
        name: "add", summary: "add the rules for another server: the same as 'init'",
        operands: InitCommand.syntax.operands, options: InitCommand.syntax.options,
        details: """
            The same command as 'attache init', which makes the rule file if there is none.

                attache add http://wiki.example.com/
            """)

    private let command: InitCommand

    init(_ arguments: Arguments) throws(CommandError) { command = try InitCommand(arguments) }

    func run() throws(CommandError) -> Int32 { try command.run() }
}
