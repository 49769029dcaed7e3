import Credentials
import Model
import Rules

/// The command `attache store`: changes the key of the credential store, or copies the store.
struct StoreCommand: Command {
    static let syntax = CommandSyntax(
        name: "store", summary: "change the key of the credential store, or copy it to another place",
        operands: [
            CommandOperand(name: "ACTION", choices: ["rekey", "migrate"]),
            CommandOperand(name: "NAME|SOURCE", isOptional: true),
            CommandOperand(name: "DESTINATION", isOptional: true),
        ],
        options: [
            CommandOption.config,
            CommandOption(
                name: "to", value: "file|env", summary: ["the place of the new key: 'file NAME' or 'env NAME'"]),
            CommandOption(name: "replace", summary: ["for 'migrate': replace all that is in the destination"]),
        ],
        details: """
            ACTION is 'rekey' or 'migrate'.

                openssl rand -base64 32 > /run/secrets/store.key && chmod 600 /run/secrets/store.key
                attache store rekey --to file /run/secrets/store.key
                attache store migrate 'sqlite /var/lib/attache/credentials.db' \\
                    'postgresql "host=db dbname=attache" { key env STORE_KEY }'

            'rekey --to file NAME' encrypts the store's secrets under the key in NAME: 32 bytes, as 64
            hexadecimal digits or 44 characters of base64. The old key no longer opens them. A running proxy
            continues. Write the new key in the rule file before you start the proxy again.

            'migrate SOURCE DESTINATION' copies everything in one store into another, encrypts it under the key
            of that one, and reads it back. If anything differs, nothing is copied. SOURCE and DESTINATION are
            rule files with a 'store', or the words that follow 'store' in a rule file, as one argument. Restart
            a proxy that uses the destination.

            Both work completely or not at all. 'rekey' writes one row, however large the store is. 'migrate'
            shows its progress on the terminal. After Ctrl-C the destination is unchanged: run it again.
            """)

    private enum Work {
        case rekey(CredentialStore.Place, to: ValueSource)
        case migrate(CredentialStore.Place, to: CredentialStore.Place, replacing: Bool)
    }

    private let work: Work

    init(_ arguments: Arguments) throws(CommandError) {
        switch arguments.operand(0) ?? "" {
        case "rekey":
            try arguments.refuse(["replace"], "cannot be used with 'rekey'")
            if arguments.operands.count > 2 { throw arguments.error("'rekey' takes one key") }
            let key = try ValueSource(arguments, option: "to", operand: 1)
            let path = try RuleFilePath.choose(arguments.value(of: "config"))
            work = .rekey(try .known(by: try RuleFile.read(path).valid()), to: key)
        case "migrate":
            try arguments.refuse(["to", "config"], "cannot be used with 'migrate'")
            guard let source = arguments.operand(1), let destination = arguments.operand(2) else {
                throw arguments.error(
                    "\(arguments.operand(1) == nil ? "SOURCE and DESTINATION are" : "DESTINATION is") missing")
            }
            work = .migrate(
                try CredentialStore.Place(saying: source, as: "SOURCE"),
                to: try CredentialStore.Place(saying: destination, as: "DESTINATION"),
                replacing: arguments.has("replace"))
        case let action: throw arguments.error(Arguments.unknown("action", action, among: ["rekey", "migrate"]))
        }
    }

    func run() throws(CommandError) -> Int32 {
        switch work {
        case .rekey(let place, let key):
            let id = try CommandError.failing {
                try place.rewrap(to: key, environment: Environment.all, audit: .ofCommand)
            }
            Console.print("the store is encrypted under the key \(id)")
            Console.error("write the new key in the rule file before you start the proxy again: store … { key … }")
        case .migrate(let source, let destination, let replacing):
            Console.print(Self.words(for: try Self.copy(source, to: destination, replacing: replacing)))
        }
        return ExitStatus.success
    }

    private static func copy(
        _ source: CredentialStore.Place, to destination: CredentialStore.Place, replacing: Bool
    ) throws(CommandError) -> CredentialStore.Migration {
        try ProgressReport.run("copying rows") { work throws(CommandError) in
            do throws(CredentialStore.Failure) {
                return try source.migrate(
                    to: destination, replacing: replacing, environment: Environment.all, observedBy: work,
                    report: { Console.error($0) })
            } catch {
                throw error.isStop
                    ? work.stopped("stopped: the destination is unchanged; run the command again")
                    : .failed("\(error)")
            }
        }
    }

    private static func words(for copied: CredentialStore.Migration) -> String {
        let counts = [
            (copied.credentials, "credential"), (copied.accounts, "account"), (copied.spaces, "learned space"),
            (copied.tokens, "token"),
        ]
        let words = counts.map { count, noun in "\(count) \(noun)\(count == 1 ? "" : "s")" }
        return "copied and read back: \(words.joined(separator: ", "))"
    }
}
