import IO
import Rules

/// `attache env`: prints the variables that lead tools through the proxy.
struct EnvCommand: Command {
    static let syntax = CommandSyntax(
        name: "env", summary: "print the variables that lead tools through the proxy",
        options: [
            CommandOption(
                name: "shell", value: "SHELL",
                summary: ["how they are set: sh (default; bash and zsh too), fish,", "powershell, docker or systemd"],
                choices: VariableSyntax.allCases.map(\.rawValue)),
            CommandOption(
                name: "directory", value: "DIR",
                summary: ["where files for tools go, for other users and containers;", "default: beside the authority"]),
            CommandOption(
                name: "config", value: "FILE",
                summary: ["the rule file; default: ./proxy.conf, else /etc/attache/proxy.conf"]),
        ],
        details: """
            Prints http_proxy, https_proxy and no_proxy, in small and in capital letters, since tools differ,
            and Java's options. Where the rules look into tunnels, a tool has to trust the proxy's authority
            too: then the variables of OpenSSL, curl, Python, git, Node, Deno and Java are among them, and the
            files that they name are written. Most of these take a file in the place of the system's
            authorities, so that tools.pem and tools.p12 have both; run it again after 'authority renew'.

                eval "$(attache env)"
                attache env --shell fish | source
                attache env --shell powershell | Out-String | Invoke-Expression
                attache env --shell docker > proxy.env
                attache env --shell systemd > /etc/systemd/system/build.service.d/proxy.conf
            """)

    private let path: String
    private let syntax: VariableSyntax
    private let directory: String?

    init(_ arguments: Arguments) throws(CommandError) {
        let name = arguments.value(of: "shell") ?? VariableSyntax.sh.rawValue
        guard let syntax = VariableSyntax(rawValue: name == "bash" || name == "zsh" ? "sh" : name) else {
            throw arguments.error(
                Arguments.unknown("shell", name, among: VariableSyntax.allCases.map(\.rawValue)))
        }
        self.syntax = syntax
        directory = arguments.value(of: "directory")
        path = try RuleFilePath.choose(arguments.value(of: "config"))
    }

    func run() throws(CommandError) -> Int32 {
        let configuration = try RuleFile.read(path).valid()
        var files: ToolFiles?
        if configuration.routes.contains(where: { $0.action == .intercept }) {
            files = try ToolFiles(configuration, in: directory)
        }
        let variables = try ToolVariables(configuration, files: files)
        Console.print(syntax.text(variables.all, files: files))
        if !configuration.clients.methods.isEmpty {
            Console.error(
                "clients have to log in at this proxy: put the user and the password before the address, as in "
                    + "http://alice:PASSWORD@127.0.0.1:3128")
        }
        return ExitStatus.success
    }
}
