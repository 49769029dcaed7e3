import Credentials
import Rules

/// `attache store`: what is done with the credential store as a whole.
struct StoreCommand: Command {
    static let syntax = CommandSyntax(
        name: "store", summary: "seal the credential store under another key",
        operands: [CommandOperand(name: "ACTION"), CommandOperand(name: "NAME", isOptional: true)],
        options: [
            CommandOption(
                name: "config", value: "FILE",
                summary: ["the rule file; default: ./proxy.conf, else /etc/attache/proxy.conf"]),
            CommandOption(name: "to", value: "file|env", summary: ["where the new key is: 'file NAME' or 'env NAME'"]),
        ],
        details: """
            ACTION is 'rekey': the store's secrets are sealed under the key that NAME holds, 32 bytes as 64
            hexadecimal digits or 44 characters of base64, and no longer under the key of the rule file. A
            running proxy goes on. Say the new key in the rule file before the proxy is started again.

                openssl rand -base64 32 > /run/secrets/store.key && chmod 600 /run/secrets/store.key
                attache store rekey --to file /run/secrets/store.key
            """)

    private let place: CredentialStorePlace
    private let key: Credentials.ValueSource

    init(_ arguments: Arguments) throws(CommandError) {
        let action = arguments.operand(0) ?? ""
        guard action == "rekey" else {
            throw arguments.error(Arguments.unknown("action", action, among: ["rekey"]))
        }
        key = try .init(arguments, option: "to", operand: 1)
        let path = try RuleFilePath.choose(arguments.value(of: "config"))
        guard let place = CredentialStorePlace(try RuleFile.read(path).valid()) else {
            throw .configuration(StatePath.unknown(for: "credentials"))
        }
        self.place = place
    }

    func run() throws(CommandError) -> Int32 {
        do throws(CredentialStoreError) {
            let id = try place.rewrap(to: key, environment: Environment.all)
            Console.print("the store is sealed under the key \(id)")
        } catch { throw .failed("\(error)") }
        Console.error("say the new key in the rule file before the proxy is started again: store … { key … }")
        return ExitStatus.success
    }
}
