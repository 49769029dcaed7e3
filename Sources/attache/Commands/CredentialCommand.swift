import Admin
import Authentication
import Challenges
import Credentials
import Crypto
import IO
import Model
import Rules

/// `attache credential`: shows and changes what the credential store holds.
struct CredentialCommand: Command {
    private enum Work {
        case set(CredentialSubject, CredentialEntry, isDefault: Bool?)
        case list(asJSON: Bool)
        case remove(CredentialSubject)
        case makeDefault(CredentialSubject)
        case take(CredentialImport)
        case export(ValueSource)
        case retry(CredentialRetry)
    }

    private let work: Work
    private let configuration: Configuration
    private let place: CredentialStorePlace
    /// As it was said.
    private let ruleFile: String?

    init(_ arguments: Arguments) throws(CommandError) {
        let name = arguments.operand(0) ?? ""
        guard let action = CredentialAction(rawValue: name) else {
            throw arguments.error(Arguments.unknown("action", name, among: CredentialAction.allCases.map(\.rawValue)))
        }
        try action.check(arguments)
        switch action {
        case .set:
            let entry = try CredentialEntry(arguments)
            let subject = try CredentialSubject(arguments, entry: entry)
            try Self.checkPersistence(arguments)
            work = .set(subject, entry, isDefault: try arguments.yesOrNo("default"))
        case .list: work = .list(asJSON: arguments.has("json"))
        case .remove: work = .remove(try CredentialSubject(arguments))
        case .makeDefault:
            let subject = try CredentialSubject(arguments)
            if subject.space.authenticationMethod == .serverTrust {
                throw arguments.error("every exception of a server counts: none is its default")
            }
            work = .makeDefault(subject)
        case .retry: work = .retry(try CredentialRetry(arguments))
        case .take: work = .take(try CredentialImport(arguments))
        case .export: work = .export(try .init(arguments, option: "to", operand: 1))
        }
        ruleFile = arguments.value(of: "config")
        let path = try RuleFilePath.choose(ruleFile)
        configuration = try RuleFile.read(path).valid()
        guard let place = CredentialStorePlace(configuration) else {
            throw .configuration(StatePath.unknown(for: "credentials"))
        }
        self.place = place
    }

    /// A store keeps what is permanent. `session` and `none` end with a client's session and with a request, and a
    /// command has neither (as in Apple's URLCredentialStorage, which keeps no other).
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
            "a credential of persistence '\(name)' ends \(end), and the store keeps those that outlive both: give it in the "
                + "request's URL, and say 'persistence \(name)' in the challenge's rule")
    }

    func run() throws(CommandError) -> Int32 {
        if place.isMissing {
            switch work {
            case .set, .take, .retry: break
            case .list(let asJSON):
                try list(nil, asJSON: asJSON)
                return ExitStatus.success
            case .remove, .makeDefault: throw .failed("there is no such credential: nothing is stored yet")
            case .export: throw .failed("nothing is stored yet")
            }
        }
        switch work {
        case .set(let subject, let entry, let isDefault):
            // Asked first: nothing is opened for somebody who thinks better of it.
            let value = try entry.read()
            let credential = value.credential(named: subject.name(of: value), for: subject.space)
            try StoreEditing.openOrMake(place) { store throws(CommandError) in
                try store.set(credential, for: subject.space, asDefault: isDefault)
            }
        case .list(let asJSON): try list(try StoreEditing(place), asJSON: asJSON)
        case .retry(let retry): try retry.run(configuration, place)
        case .remove(let subject):
            let removal = try StoreEditing(place).remove(subject.name(), for: subject.space)
            if let sentence = removal.sentence(ruleFile: ruleFile) { Console.error(sentence) }
        case .makeDefault(let subject): try StoreEditing(place).makeDefault(subject.name(), for: subject.space)
        case .take(let taking): try run(taking)
        case .export(let key): try StoreEditing(place).export(sealedWith: key)
        }
        return ExitStatus.success
    }

    /// Shows all credentials of the rule file and of the store, with what the running proxy knows of them; where none runs,
    /// with what the store does.
    private func list(_ store: StoreEditing?, asJSON: Bool) throws(CommandError) {
        var accounts = store?.accounts ?? []
        if case .path = ControlPlace(configuration),
            let answer = try RunningProxy(configuration).ask("GET", "/credentials?format=accounts")
        {
            accounts = answer.split(separator: "\n").compactMap { AccountLine.account($0) }
        }
        let list = CredentialList(
            configured: configuration.configuredCredentials, stored: store?.places ?? [], accounts: accounts,
            at: SystemClock.epochMilliseconds)
        Console.printText(asJSON ? CredentialTable.json(list) + "\n" : CredentialTable.text(list))
    }

    private func run(_ taking: CredentialImport) throws(CommandError) {
        let batch = try taking.read()
        if taking.isTrial {
            try taking.show(batch, beside: place.isMissing ? nil : try StoreEditing(place))
        } else {
            try StoreEditing.openOrMake(place) { store throws(CommandError) in try taking.keep(batch, in: store) }
        }
    }
}

extension CredentialCommand {
    static let syntax = CommandSyntax(
        name: "credential", summary: "show and change the stored credentials",
        operands: [
            CommandOperand(name: "ACTION", choices: CredentialAction.allCases.map(\.rawValue)),
            CommandOperand(name: "URL|FILE|NAME", isOptional: true),
            CommandOperand(name: "USER|NAME", isOptional: true),
        ],
        options: [
            CommandOption(
                name: "config", value: "FILE",
                summary: ["the rule file; default: ./proxy.conf, else /etc/attache/proxy.conf"]),
            CommandOption(
                name: "realm", value: "TEXT",
                summary: ["the protection space's realm, as the server's challenge says it"]),
            CommandOption(
                name: "method", value: "METHOD",
                summary: [
                    "basic (default), digest, ntlm, negotiate, html-form, or any: whichever of them",
                    "the server asks for, in whatever realm; the last four have no realm; 'import'",
                    "takes any; negotiate is answered where a rule names it; and bearer,",
                    "client-certificate, server-trust, which 'remove' and 'default' are told",
                ]),
            CommandOption(
                name: "proxy", value: "yes|no", summary: ["whether a proxy asks for it, with 407; default: no"]),
            CommandOption(
                name: "password-file", value: "FILE",
                summary: [
                    "where 'set' finds the password; one newline at its end is no part of it;", "'-': standard input",
                ]),
            CommandOption(
                name: "token", value: "FILE", summary: ["a bearer token, in the place of a user's password"]),
            CommandOption(
                name: "certificate", value: "FILE",
                summary: ["a certificate for servers that ask for one, with those above it: PEM or PKCS#12"]),
            CommandOption(
                name: "passphrase", value: "FILE", summary: ["opens the certificate's key, or the PKCS#12 file"]),
            CommandOption(
                name: "default", value: "yes|no",
                summary: [
                    "whether 'set' makes it the one that requests are answered with;", "default: if there is none",
                ]),
            CommandOption(
                name: "persistence", value: "HOW",
                summary: ["how long 'set' keeps it: permanent, as all that is stored"]),
            CommandOption(
                name: "format", value: "FORMAT",
                summary: ["the format of FILE: netrc, curl or export; default: the one it looks like"]),
            CommandOption(
                name: "protocol", value: "NAME",
                summary: ["how the hosts of a netrc file are spoken to: https (default), http or ftp"]),
            CommandOption(
                name: "key", value: "FILE|file|env",
                summary: [
                    "the certificate's key, where it stands in a file of its own; with 'import', the",
                    "key that opens an export: 'file NAME' or 'env NAME'",
                ]),
            CommandOption(name: "json", summary: ["'list': one JSON array"]),
            CommandOption(name: "dry-run", summary: ["show the credentials that 'import' would keep, and keep none"]),
            CommandOption(
                name: "to", value: "file|env",
                summary: ["the key that seals an export: 'file NAME' or 'env NAME'"]),
        ],
        details: """
            ACTION is 'set', 'list', 'remove', 'default', 'retry', 'import' or 'export'.

            'set URL USER' keeps a credential for the protection space of the URL's server, or gives it a new
            password. It asks for the password twice without showing it; where standard input is no terminal,
            it is read from there. 'remove URL USER' forgets it. 'default URL USER' makes it the one that the
            space's challenges are answered with where the rules say 'default' or nothing. The URL
            socks5://HOST:PORT is a parent's.

            'set URL --token FILE' keeps a bearer token, 'set URL --certificate FILE --key FILE' a certificate
            with its key; '-' is standard input. NAME tells it from others of the server: 'token', and the
            certificate's subject, where none is said. 'attache trust HOST:PORT --accept' keeps an exception
            for a server's key.

            'list' shows all credentials, those of the rule file too, with the state of each value: whether
            servers have accepted or refused it, when it is tried next, and what ends a hold at once. 'retry' has
            credentials sent again that are on hold, as when an account was unlocked: all of them, with a URL
            those that its server has judged, with krb5:REALM those that the KDC of that realm has judged,
            with NAME the one of that name, or those of that user. It holds for all proxies that share the
            store. A credential of the rule file is also sent again when one of its files is touched or written
            again. See 'attache help refusals'.

            'import FILE' keeps the credentials of a netrc file, or the users in a configuration file of curl's (curl
            --config); '-' is standard input. An entry of netrc that cannot be kept is named, with its line, and
            left out. Where a line is not understood, nothing is kept.
            Neither file knows of realms: the credentials are for whichever method and realm the server asks
            with, unless --method and --realm say more. A credential that is there already gets the password of
            FILE. While it works, a line on the terminal says how far it is; Ctrl-C stops it, nothing is then
            kept, and the same command begins again.

            An entry of netrc answers on every port of its host, as with curl; a credential that is kept for
            the very port goes first. The URL of such an entry has '*' for the port, as in 'remove
            https://HOST:*/ USER', and in JSON the number 0.

            'export --to file NAME' writes all credentials to standard output, each sealed under the key that
            NAME holds, 32 bytes as 64 hexadecimal digits or 44 characters of base64; 'import FILE --key file
            NAME' keeps them in another store.

            A running proxy that has the store open goes by a change within a second.

                attache credential set http://ci.example.com/ builder --realm Jenkins --method digest
                attache credential set https://api.example.com/ --token /run/secrets/token
                attache credential import ~/.netrc --dry-run
                attache credential retry krb5:EXAMPLE.COM
            """)
}

/// The actions of `attache credential`.
private enum CredentialAction: String, CaseIterable {
    case set, list, remove
    case makeDefault = "default"
    case take = "import"
    case export, retry

    /// The options that mean something here, apart from `--config`.
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
        }
    }

    /// Throws when something was said that means nothing here.
    func check(_ arguments: Arguments) throws(CommandError) {
        if self == .list, arguments.operands.count > 1 { throw arguments.error("'list' takes no URL and no USER") }
        for option in CredentialCommand.syntax.options
        where option.name != "config" && !options.contains(option.name) && arguments.has(option.name) {
            throw arguments.error("'\(rawValue)' has no use for '--\(option.name)'")
        }
    }
}
