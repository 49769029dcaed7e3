import Credentials
import Model
import PAC
import Proxy
import Rules
import Upstream

/// `attache check`: says what is wrong with a rule file.
struct CheckCommand: Command {
    static let syntax = CommandSyntax(
        name: "check", summary: "show every error of a rule file",
        operands: [CommandOperand(name: "FILE", isOptional: true)],
        details: """
            FILE is ./proxy.conf by default, else /etc/attache/proxy.conf. A good file is met with silence.
            Every error and every warning is shown with its line; errors end with status 2, warnings alone
            with 0. The files that the rules name are opened, too: certificates, secrets, users, tokens,
            keytabs, roots, revocation lists and PAC files. What is wrong with one is shown; without the
            certificate of a listener or of a credential, or with a PAC file that fails, the proxy does not
            start, so that is an error. PKCS#11 tokens
            are not asked, lest a wrong PIN lock them.
            """)

    let path: String

    init(_ arguments: Arguments) throws(CommandError) {
        path = try RuleFilePath.choose(arguments.operand(0))
    }

    func run() throws(CommandError) -> Int32 {
        let file = try RuleFile.read(path)
        let configuration = try file.valid()
        Console.write(file.report)
        let listeners = OwnIdentities.problems(with: configuration.listeners)
        let files = NamedFiles(configuration)
        for problem in listeners + files.errors + files.warnings { Console.error(problem) }
        return listeners.isEmpty && files.errors.isEmpty ? ExitStatus.success : ExitStatus.usage
    }
}

/// The problems with the files that rules name.
private struct NamedFiles {
    /// Problems with which the proxy does not start.
    private(set) var errors: [String] = []
    private(set) var warnings: [String] = []

    init(_ configuration: Configuration) {
        for credential in configuration.configuredCredentials { read(credential) }
        for parent in configuration.parents {
            if let path = parent.automatic, let error = PACFile(path: path).check() {
                errors.append("the PAC file of the parent \(parent.name): \(error)")
            }
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
            // The variables of this shell are not those of the proxy.
            if case .noVariable = error { continue }
            if isIdentity { errors.append("\(error)") } else { warnings.append("\(error)") }
        }
        warnings += found.warnings.map { "\($0)" }
    }
}
