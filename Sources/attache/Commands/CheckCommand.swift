import Credentials
import Model
import PAC
import Proxy
import Rules
import Upstream

/// The command `attache check`: shows what is wrong with a rule file.
struct CheckCommand: Command {
    static let syntax = CommandSyntax(
        name: "check", summary: "show every error of a rule file",
        operands: [CommandOperand(name: "FILE", isOptional: true)], options: [.config],
        details: """
            Shows every error and every warning with its line, and prints nothing if the file is correct. FILE
            is the same as --config FILE. The exit status is 2 for errors, and 0 for warnings only.

                attache check
                attache check /etc/attache/proxy.conf

            It also opens the files that the rules name: certificates, secrets, users, tokens, keytabs, roots,
            revocation lists and PAC files. A bad certificate of a listener or of a credential is an error,
            and so is a PAC file that fails: the proxy does not start without them. PKCS#11 tokens are not
            opened, because a wrong PIN could lock them.
            """)

    let path: String

    init(_ arguments: Arguments) throws(CommandError) {
        path = try RuleFilePath.choose(try arguments.ruleFile(or: arguments.operand(0)))
    }

    func run() throws(CommandError) -> Int32 {
        let file = try RuleFile.read(path)
        let configuration = try file.valid()
        Console.write(file.report)
        let listeners = ListenerCertificates.problems(with: configuration.listeners)
        let files = NamedFiles(configuration)
        for problem in listeners + files.errors + files.warnings { Console.error(problem) }
        return listeners.isEmpty && files.errors.isEmpty ? ExitStatus.success : ExitStatus.usage
    }

    /// Checks the files that rules name.
    private struct NamedFiles {
        /// The problems that keep the proxy from starting.
        private(set) var errors: [String] = []
        private(set) var warnings: [String] = []

        init(_ configuration: Configuration) {
            for credential in configuration.configuredCredentials { read(credential) }
            for parent in configuration.parents {
                if let path = parent.automatic, let error = PACFile(path: path).check() {
                    errors.append("the PAC file of the parent \(parent.name): \(error)")
                }
            }
            if let problem = AdminListener.MetricsToken(configuration)?.refresh() {
                warnings.append("the token of the metrics: \(problem)")
            }
            let clients = try? ClientAccounts(configuration.clients, nonceKey: nil)
            warnings += clients?.refresh() ?? []
            let trust = try? TrustSources(RuleSet(configuration))
            warnings += trust?.refresh().map { "\($0)" } ?? []
        }

        private mutating func read(_ credential: ConfiguredCredential) {
            var isIdentity = false
            if case .identity(let source) = credential.content {
                if case .pkcs11 = source { return }
                isIdentity = true
            }
            let found = ConfiguredCredentials([credential], environment: Environment.all).refresh()
            for error in found.errors {
                // This shell's variables are not those of the proxy.
                if case .noVariable = error { continue }
                if isIdentity { errors.append("\(error)") } else { warnings.append("\(error)") }
            }
            warnings += found.warnings.map { "\($0)" }
        }
    }
}
