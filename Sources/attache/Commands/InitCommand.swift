import Authentication
import Bytes
import Credentials
import Forwarding
import IO
import Rules
import TLS

/// `attache init`: makes a rule file for a server that asks for a login, once the server has accepted it.
struct InitCommand: Command {
    static let syntax = CommandSyntax(
        name: "init", summary: "write a first rule file for a server that asks for a login",
        operands: [CommandOperand(name: "URL", isOptional: true)],
        options: [
            CommandOption(name: "user", value: "NAME", summary: ["the user; default: asks on the terminal"]),
            CommandOption(
                name: "password-file", value: "FILE",
                summary: [
                    "the file with the password or token, or - for standard input;", "default: asks on the terminal",
                ]),
            CommandOption(
                name: "intercept",
                summary: ["for an https URL: decrypt the tunnel; tools must trust the proxy's", "CA"]),
            CommandOption(
                name: "upgrade", summary: ["for an https URL: tools use http, and the proxy uses https"]),
            CommandOption(
                name: "anchor", value: "FILE",
                summary: ["root certificates (PEM) to trust for this server, besides the", "system's"]),
            CommandOption(
                name: "listen", value: "ADDRESS:PORT", summary: ["where tools connect; default: 127.0.0.1:3128"]),
            CommandOption(name: "config", value: "FILE", summary: ["the rule file; default: ./proxy.conf"]),
            CommandOption(name: "force", summary: ["replace existing files"]),
        ],
        details: """
            Asks the server which login it wants (nothing secret is sent), then asks you for user and password.
            It tries them once: a wrong password costs one attempt. When the server accepts them, it writes a
            short rule file and a file with the secret. Only you can read them. Then it prints the next
            commands.

                attache init http://ci.example.com/job
                attache init --intercept https://ci.example.com/
                attache init http://ci.example.com/job --user builder --password-file - < password.txt

            The password is never an argument, because every user of the machine could see it. If standard input
            is not a terminal, the password is read from there.
            """)

    private let url: String?
    private let entry: LoginEntry
    private let way: FirstRules.Way
    private let anchor: String?
    private let listen: Endpoint
    private let path: String
    private let replaces: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        url = arguments.operand(0)
        if url == nil, !Terminal.isStandardInput { throw arguments.error("URL is missing") }
        entry = LoginEntry(user: arguments.value(of: "user"), file: arguments.value(of: "password-file"))
        if arguments.has("intercept"), arguments.has("upgrade") {
            throw arguments.error("'--intercept' and '--upgrade' exclude each other")
        }
        way = arguments.has("intercept") ? .intercept : arguments.has("upgrade") ? .upgrade : .plain
        guard let listen = Endpoint(arguments.value(of: "listen") ?? "127.0.0.1:3128") else {
            throw arguments.error("'--listen' is an address and a port, such as 127.0.0.1:3128")
        }
        self.listen = listen
        path = arguments.value(of: "config") ?? "./proxy.conf"
        replaces = arguments.has("force")
        anchor = try arguments.value(of: "anchor").map(WholePath.of)
    }

    func run() throws(CommandError) -> Int32 {
        let said: String
        if let url { said = url } else { said = try FirstServer.ask() }
        let request = try FirstServer.request(said, by: way)
        var rules = FirstRules(server: request, way: way, listen: listen, anchor: anchor)
        if way == .intercept, StatePath.find(nil) == nil { rules.state = "attache-state" }
        if !replaces, SmallFile.exists(path) { try files(for: request, nil).requireFree() }
        try requireListener()
        let wanted = try FirstServer.wanted(at: request, by: try configuration(rules.probing))
        let files = files(for: request, wanted)
        try files.requireFree()
        let login = try entry.read(for: wanted)
        let text = rules.text(for: login, secretFile: files.secretName)
        let status = try FirstServer.status(of: request, with: login, by: try configuration(text))
        Console.print("the server accepts \(login.subject), and answers \(status)")
        try files.write(text, login.secret)
        let file = try RuleFile.read(path)
        let written = try file.valid()
        Console.write(file.report)
        Console.print("written: \(files.rules) and \(files.secret), which only you can read")
        let steps = NextSteps(rules: path, server: request, way: way, proxy: "http://\(listen.reachable)")
        if way == .intercept { Console.print(try FirstAuthority.line(written)) }
        Console.print("\n\(steps.text)")
        return ExitStatus.success
    }

    /// A proxy of before may be there, or another program.
    private func requireListener() throws(CommandError) {
        do throws(IOError) {
            try Listener.probe(SocketAddress(listen.address, port: listen.port))
        } catch { throw .failed("\(error): use --listen for another address") }
    }

    private func files(for request: ExplainedRequest, _ wanted: WantedLogin?) -> FirstFiles {
        FirstFiles(
            rules: path, host: request.host, noun: wanted?.kind == .token ? "token" : "password", replaces: replaces)
    }

    /// The rules of a text that is not written yet.
    private func configuration(_ text: String) throws(CommandError) -> Configuration {
        try RuleFile.read(path, from: DraftSource(text, at: path)).valid()
    }
}
