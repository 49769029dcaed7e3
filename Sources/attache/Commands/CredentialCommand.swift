import Admin
import Authentication
import Challenges
import Credentials
import Crypto
import IO
import Model
import Rules

/// The command `attache credential`: shows and changes the credential store.
struct CredentialCommand: Command {
    private enum Work {
        case set(Subject, Entry, isDefault: Bool?)
        case list(asJSON: Bool)
        case remove(Subject)
        case makeDefault(Subject)
        case take(Import)
        case export(ValueSource)
        case retry(Retry)
        case placeholder(Placeholder)
    }

    private let work: Work
    private let configuration: Configuration
    private let place: CredentialStore.Place
    /// The rule file as given on the command line.
    private let ruleFile: String?
    private let path: String

    init(_ arguments: Arguments) throws(CommandError) {
        let action: Action = try arguments.choice("action", arguments.operand(0) ?? "")
        try action.check(arguments)
        switch action {
        case .set:
            let entry = try Entry(arguments)
            let subject = try Subject(arguments, entry: entry)
            try Self.checkPersistence(arguments)
            work = .set(subject, entry, isDefault: try arguments.yesOrNo("default"))
        case .list: work = .list(asJSON: arguments.has("json"))
        case .remove: work = .remove(try Subject(arguments))
        case .makeDefault:
            let subject = try Subject(arguments)
            if subject.space.authenticationMethod == .serverTrust {
                throw arguments.error("exceptions have no default: every exception of a server is used")
            }
            work = .makeDefault(subject)
        case .retry: work = .retry(try Retry(arguments))
        case .take: work = .take(try Import(arguments))
        case .export: work = .export(try .init(arguments, option: "to", operand: 1))
        case .placeholder: work = .placeholder(try Placeholder(arguments))
        }
        ruleFile = arguments.value(of: "config")
        path = try RuleFilePath.choose(ruleFile)
        configuration = try RuleFile.read(path).valid()
        place = try .known(by: configuration)
    }

    /// Checks that the persistence is permanent. `session` and `none` end with a client's session and with a request,
    /// and a command has neither (as in Apple's URLCredentialStorage, which stores no others).
    private static func checkPersistence(_ arguments: Arguments) throws(CommandError) {
        let name = arguments.value(of: "persistence") ?? Persistence.permanent.rawValue
        let known: [Persistence] = [.permanent, .session, .none]
        guard let persistence = known.first(where: { $0.rawValue == name }) else {
            throw arguments.error(Arguments.unknown("persistence", name, among: known.map(\.rawValue)))
        }
        let end: String
        switch persistence {
        case .permanent: return
        case .session: end = "with a client's session"
        case .none: end = "with its request"
        }
        throw arguments.error(
            "a credential with persistence '\(name)' ends \(end), and cannot be stored: send it in the "
                + "request's URL, and write 'persistence \(name)' in the rule")
    }

    func run() throws(CommandError) -> Int32 {
        if place.isMissing {
            switch work {
            case .set, .take, .retry, .placeholder: break
            case .list(let asJSON):
                try list(nil, asJSON: asJSON)
                return ExitStatus.success
            case .remove, .makeDefault: throw .failed("this credential does not exist: nothing is stored yet")
            case .export: throw .failed("nothing is stored yet")
            }
        }
        switch work {
        case .set(let subject, let entry, let isDefault):
            // The value is read first: nothing is opened if the user stops here.
            let value = try entry.read()
            let credential = value.credential(named: subject.name(of: value), for: subject.space)
            try StoreEditing.openOrMake(place) { store throws(CommandError) in
                try store.set(credential, for: subject.space, asDefault: isDefault)
            }
        case .list(let asJSON): try list(try StoreEditing(place), asJSON: asJSON)
        case .retry(let retry): try retry.run(configuration, at: path, place)
        case .placeholder(let placeholder): try placeholder.print()
        case .remove(let subject):
            let sentence = try StoreEditing(place).remove(subject.name(), for: subject.space, ruleFile: ruleFile)
            if let sentence { Console.error(sentence) }
        case .makeDefault(let subject): try StoreEditing(place).makeDefault(subject.name(), for: subject.space)
        case .take(let taking): try run(taking)
        case .export(let key): try StoreEditing(place).export(sealedWith: key)
        }
        return ExitStatus.success
    }

    /// Shows all credentials of the rule file and of the store, with the state from the running proxy; if none runs,
    /// with the state in the store.
    private func list(_ store: StoreEditing?, asJSON: Bool) throws(CommandError) {
        var accounts = store?.accounts ?? []
        if (try? ControlSocket.path(state: configuration.state)) != nil,
            let answer = try RunningProxy(configuration, at: path).ask("GET", "/credentials?format=accounts")
        {
            accounts = answer.split(separator: "\n").compactMap { AccountLine.account($0) }
        }
        let list = CredentialList(
            configured: configuration.configuredCredentials, stored: store?.places ?? [], accounts: accounts,
            at: SystemClock.wallTime)
        Console.printText(asJSON ? CredentialTable.json(list) + "\n" : CredentialTable.text(list))
    }

    private func run(_ taking: Import) throws(CommandError) {
        let batch = try taking.read()
        if taking.isTrial {
            try taking.show(batch, beside: place.isMissing ? nil : try StoreEditing(place))
        } else {
            try StoreEditing.openOrMake(place) { store throws(CommandError) in try taking.keep(batch, in: store) }
        }
    }

    static let syntax = CommandSyntax(
        name: "credential", summary: "show and change the stored credentials",
        operands: [
            CommandOperand(name: "ACTION", choices: Action.allCases.map(\.rawValue)),
            CommandOperand(name: "URL|FILE|NAME", isOptional: true),
            CommandOperand(name: "USER|NAME", isOptional: true),
        ],
        options: [
            CommandOption.config,
            CommandOption(
                name: "realm", value: "TEXT",
                summary: ["the realm in the server's challenge"]),
            CommandOption(
                name: "method", value: "METHOD",
                summary: [
                    "basic (default), digest, ntlm, negotiate, html-form, or any, for all",
                    "methods and realms of the server; the last four have no realm; 'import' uses",
                    "any; negotiate needs a rule that names it; for 'remove' and 'default' also",
                    "bearer, client-certificate and server-trust",
                ]),
            CommandOption(
                name: "proxy", value: "yes|no",
                summary: ["whether it is for a parent proxy that answers 407; default: no"]),
            CommandOption(
                name: "password-file", value: "FILE",
                summary: [
                    "for 'set': the file with the password, without one newline at its end;",
                    "'-': standard input",
                ]),
            CommandOption(
                name: "token", value: "FILE", summary: ["a file with a bearer token, instead of user and password"]),
            CommandOption(
                name: "certificate", value: "FILE",
                summary: ["a client certificate with its issuers: PEM or PKCS#12"]),
            CommandOption(
                name: "passphrase", value: "FILE",
                summary: ["a file with the passphrase of the certificate's key or of the PKCS#12 file"]),
            CommandOption(
                name: "default", value: "yes|no",
                summary: [
                    "for 'set': whether it becomes the default of its protection space;",
                    "default: yes if there is none",
                ]),
            CommandOption(
                name: "persistence", value: "HOW",
                summary: ["for 'set': permanent, the only value"]),
            CommandOption(
                name: "format", value: "FORMAT",
                summary: ["the format of FILE: netrc, curl or export; default: found by its content"]),
            CommandOption(
                name: "protocol", value: "NAME",
                summary: ["the protocol for the hosts of a netrc file: https (default), http or ftp"]),
            CommandOption(
                name: "key", value: "FILE|file|env",
                summary: [
                    "the certificate's key, if in a file of its own; for 'import', the key",
                    "of an export: 'file NAME' or 'env NAME'",
                ]),
            CommandOption(name: "json", summary: ["for 'list': print one JSON object"]),
            CommandOption(name: "dry-run", summary: ["for 'import': only show what would be stored"]),
            CommandOption(
                name: "to", value: "file|env",
                summary: ["for 'export': the key that encrypts it: 'file NAME' or 'env NAME'"]),
            CommandOption(
                name: "like", value: "TEXT",
                summary: [
                    "for 'placeholder': how the keys of the service begin, such as sk-; or jwt, for",
                    "a JSON Web Token",
                ]),
        ],
        details: """
            ACTION is 'set', 'list', 'remove', 'default', 'retry', 'import', 'export' or 'placeholder'.

                attache credential set http://ci.example.com/ builder --realm Jenkins --method digest
                attache credential set https://api.example.com/ --token /run/secrets/token
                attache credential list
                attache credential retry ci
                attache credential import ~/.netrc --dry-run
                attache credential placeholder ai --like sk-

            'set URL USER' stores a credential for the protection space of the URL's server, or changes its
            password. It asks for the password twice without showing it. If standard input is not a terminal, it
            reads the password from there. For a SOCKS parent the URL is socks5://HOST:PORT.

            'set URL --token FILE' stores a bearer token. 'set URL --certificate FILE --key FILE' stores a
            client certificate with its key. '-' is standard input. NAME tells it from others of the server;
            default: 'token', or the certificate's subject. 'attache trust HOST:PORT --accept' stores an
            exception for a server's key.

            'remove URL USER' removes a credential. 'default URL USER' makes it the default of its space. The
            default answers challenges if the rules say 'default', or if no rule matches.

            'list' shows all credentials, also those of the rule file, with their state: whether servers have
            accepted or refused them, when they are tried next, and what to do.

            'retry' sends credentials on hold again, for example after an account was unlocked. Without an
            operand it is for all. With a URL it is for those that this server has judged, with krb5:REALM for
            those that the KDC of that realm has judged. With NAME it is for the credential or the user of that
            name. This is for all proxies that share the store. See 'attache help refusals'.

            'import FILE' stores the credentials of a netrc file, or of a configuration file of curl (curl
            --config). '-' is standard input. If a line cannot be understood, nothing is stored. A netrc entry
            that cannot be stored is reported with its line, and left out. These files have no realms, so the
            credentials are for any method and realm, unless --method and --realm say more. An existing
            credential gets the password of FILE. A line on the terminal shows the progress. After Ctrl-C
            nothing is stored: run it again.

            'placeholder NAME' prints a text that a client may send instead of the credential NAME of the rule file.
            The proxy replaces it ('attache help placeholders'). With --like it has the form of the service's keys.

            'export --to file NAME' writes all credentials to standard output, each encrypted under the key in
            NAME: 32 bytes, as 64 hexadecimal digits or 44 characters of base64. 'import FILE --key file NAME'
            stores them elsewhere.

            A netrc entry answers on every port of its host, as with curl. A credential for the very port comes
            first. The URL of such an entry has '*' for the port, as in 'remove https://HOST:*/ USER'. In JSON
            its port is 0.

            A running proxy that uses the store applies a change within a second.
            """)

    /// The actions of `attache credential`.
    private enum Action: String, CaseIterable {
        case set, list, remove
        case makeDefault = "default"
        case take = "import"
        case export, retry, placeholder

        /// The options of this action, apart from `--config`.
        private var options: Set<String> {
            switch self {
            case .set:
                [
                    "realm", "method", "proxy", "password-file", "token", "certificate", "key", "passphrase", "default",
                    "persistence",
                ]
            case .list: ["json"]
            case .retry: []
            case .remove, .makeDefault: ["realm", "method", "proxy"]
            case .take: ["realm", "method", "format", "protocol", "key", "dry-run"]
            case .export: ["to"]
            case .placeholder: ["like"]
            }
        }

        /// Throws if an option or operand does not fit this action.
        func check(_ arguments: Arguments) throws(CommandError) {
            if self == .list, arguments.operands.count > 1 { throw arguments.error("'list' takes no URL and no USER") }
            let others = CredentialCommand.syntax.options.map(\.name).filter { $0 != "config" && !options.contains($0) }
            try arguments.refuse(others, "cannot be used with '\(rawValue)'")
        }
    }
}
