import Rules

/// The command `attache env`: prints the variables that make tools use the proxy.
struct EnvCommand: Command {
    static let syntax = CommandSyntax(
        name: "env", summary: "print the environment variables that make tools use the proxy",
        options: [
            CommandOption(
                name: "shell", value: "SHELL",
                summary: ["the format: sh (default; also for bash and zsh), fish,", "powershell, docker or systemd"],
                choices: ToolVariables.Syntax.allCases.map(\.rawValue)),
            CommandOption(
                name: "directory", value: "DIR",
                summary: ["where to write the CA files, for other users and containers;", "default: beside the CA"]),
            CommandOption.config,
        ],
        details: """
            Prints http_proxy, https_proxy and no_proxy, in small and in capital letters, because tools differ,
            and JAVA_TOOL_OPTIONS. If a route says 'intercept', tools must trust the proxy's CA. Then this also
            prints the variables of OpenSSL, curl, Python, git, Node, Deno and Java, and writes the files that
            they name. Most tools replace the system's CAs by such a file, so tools.pem and tools.p12 have the
            system's CAs too. Run it again after 'attache authority renew'. 'attache help tools' says more.

                eval "$(attache env)"
                attache env --shell fish | source
                attache env --shell powershell | Out-String | Invoke-Expression
                attache env --shell docker > proxy.env
                attache env --shell systemd > /etc/systemd/system/build.service.d/proxy.conf
            """)

    private let path: String
    private let syntax: ToolVariables.Syntax
    private let directory: String?

    init(_ arguments: Arguments) throws(CommandError) {
        let name = arguments.value(of: "shell") ?? ToolVariables.Syntax.sh.rawValue
        syntax = try arguments.choice("shell", name == "bash" || name == "zsh" ? "sh" : name)
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
                "clients must log in to this proxy: write user and password before the address, such as "
                    + "http://alice:PASSWORD@127.0.0.1:3128")
        }
        return ExitStatus.success
    }
}
