import Authentication
import Credentials
import Rules

/// `attache credential`: shows and changes what the credential store holds.
struct CredentialCommand: Command {
    static let syntax = CommandSyntax(
        name: "credential", summary: "show and change the stored credentials",
        operands: [
            CommandOperand(name: "ACTION"), CommandOperand(name: "URL", isOptional: true),
            CommandOperand(name: "USER", isOptional: true),
        ],
        options: [
            CommandOption(
                name: "config", value: "FILE",
                summary: ["the rule file; default: ./proxy.conf, else /etc/attache/proxy.conf"]),
            CommandOption(
                name: "realm", value: "TEXT",
                summary: ["the protection space's realm, as the server's challenge says it"]),
            CommandOption(
                name: "method", value: "METHOD", summary: ["basic (default), digest or ntlm; ntlm has no realm"]),
            CommandOption(
                name: "proxy", value: "yes|no", summary: ["whether a proxy asks for it, with 407; default: no"]),
            CommandOption(
                name: "password-file", value: "FILE",
                summary: ["where 'set' finds the password; one newline at its end is no part of it"]),
            CommandOption(
                name: "default", value: "yes|no",
                summary: [
                    "whether 'set' makes it the one that requests are answered with;", "default: if there is none",
                ]),
        ],
        details: """
            ACTION is 'set', 'list', 'remove' or 'default'.

            'set URL USER' keeps a credential for the protection space of the URL's server, or gives it a new
            password. It asks for the password twice without showing it; where standard input is no terminal,
            it is read from there. 'remove URL USER' forgets it. 'default URL USER' makes it the one that the
            space's challenges are answered with where the rules say 'default' or nothing. 'list' shows what
            is there, and no secret.

            A running proxy that has the store open goes by a change within a second.

                attache credential set http://ci.example.com/ builder --realm Jenkins --method digest
            """)

    private enum Action: String, CaseIterable {
        case set, list, remove
        case makeDefault = "default"
    }

    private let action: Action
    /// Space and user; nil for a list.
    private let subject: (space: ProtectionSpace, user: String)?
    private let passwordFile: String?
    private let isDefault: Bool?
    private let place: CredentialStorePlace

    init(_ arguments: Arguments) throws(CommandError) {
        let name = arguments.operand(0) ?? ""
        guard let action = Action(rawValue: name) else {
            throw arguments.error(Arguments.unknown("action", name, among: Action.allCases.map(\.rawValue)))
        }
        let isList = action == .list
        subject = isList ? nil : try Self.subject(arguments)
        if isList, arguments.operands.count > 1 { throw arguments.error("'list' takes no URL and no USER") }
        let meant = isList ? ["realm", "method", "proxy"] : []
        for option in meant + (action == .set ? [] : ["password-file", "default"])
        where arguments.value(of: option) != nil {
            throw arguments.error("'\(name)' has no use for '--\(option)'")
        }
        isDefault = try Self.yesOrNo("default", arguments)
        passwordFile = arguments.value(of: "password-file")
        self.action = action
        let path = try RuleFilePath.choose(arguments.value(of: "config"))
        guard let place = CredentialStorePlace(try RuleFile.read(path).valid()) else {
            throw .configuration(StatePath.unknown(for: "credentials"))
        }
        self.place = place
    }

    func run() throws(CommandError) -> Int32 {
        if action != .set, place.isMissing {
            guard action == .list else { throw .failed("there is no such credential: nothing is stored yet") }
            return ExitStatus.success
        }
        // Asked first: nothing is opened for somebody who thinks better of it.
        let password = action == .set ? try PasswordEntry.read(from: passwordFile) : nil
        let isNew = place.isMissing
        let store = try StoreEditing(place)
        guard let subject else {
            store.list()
            return ExitStatus.success
        }
        switch action {
        case .set:
            guard let password else { break }
            try store.set(subject.user, password, for: subject.space, asDefault: isDefault)
            if isNew {
                Console.error(
                    "the store is new: a proxy that is running already looks at it when it is started again")
            }
        case .remove: try store.remove(subject.user, for: subject.space)
        case .makeDefault: try store.makeDefault(subject.user, for: subject.space)
        case .list: break
        }
        return ExitStatus.success
    }

    private static func subject(
        _ arguments: Arguments
    ) throws(CommandError) -> (space: ProtectionSpace, user: String) {
        guard let url = arguments.operand(1), let user = arguments.operand(2) else {
            throw arguments.error("\(arguments.operand(1) == nil ? "URL and USER are" : "USER is") missing")
        }
        if user.isEmpty || Console.printable(user) != user { throw arguments.error("'USER' is no user's name") }
        let methodName = arguments.value(of: "method") ?? AuthenticationMethod.basic.rawValue
        let known: [AuthenticationMethod] = [.basic, .digest, .ntlm]
        guard let method = known.first(where: { $0.rawValue == methodName }) else {
            throw arguments.error(Arguments.unknown("method", methodName, among: known.map(\.rawValue)))
        }
        let realm = arguments.value(of: "realm")
        if method == .ntlm, realm != nil { throw arguments.error("ntlm has no realm") }
        if method != .ntlm, realm == nil {
            throw arguments.error(
                "a \(methodName) challenge names a realm, and only that realm is answered: say --realm, as "
                    + "WWW-Authenticate does in what 'curl -i' shows")
        }
        if method == .basic, user.contains(":") { throw arguments.error("a user's name cannot have a colon in it") }
        let isProxy = try yesOrNo("proxy", arguments) ?? false
        do throws(ExplanationError) {
            let origin = try Origin(url: url, isProxy: isProxy)
            return (ProtectionSpace(origin: origin, realm: realm, authenticationMethod: method), user)
        } catch { throw arguments.error(error.sentence) }
    }

    private static func yesOrNo(_ option: String, _ arguments: Arguments) throws(CommandError) -> Bool? {
        switch arguments.value(of: option) {
        case nil: return nil
        case "yes": return true
        case "no": return false
        default: throw arguments.error("'--\(option)' is 'yes' or 'no'")
        }
    }
}
