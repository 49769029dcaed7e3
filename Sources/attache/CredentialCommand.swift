import Authentication
import Credentials
import Crypto
import Rules

/// `attache credential`: shows and changes what the credential store holds.
struct CredentialCommand: Command {
    private enum Work {
        case set(CredentialSubject, passwordFile: String?, isDefault: Bool?)
        case list
        case remove(CredentialSubject)
        case makeDefault(CredentialSubject)
        case take(CredentialImport)
        case export(Credentials.ValueSource)
    }

    private let work: Work
    private let place: CredentialStorePlace

    init(_ arguments: Arguments) throws(CommandError) {
        let name = arguments.operand(0) ?? ""
        guard let action = CredentialAction(rawValue: name) else {
            throw arguments.error(Arguments.unknown("action", name, among: CredentialAction.allCases.map(\.rawValue)))
        }
        try action.check(arguments)
        switch action {
        case .set:
            let subject = try CredentialSubject(arguments)
            try Self.checkPersistence(arguments)
            work = .set(
                subject, passwordFile: arguments.value(of: "password-file"),
                isDefault: try arguments.yesOrNo("default"))
        case .list: work = .list
        case .remove: work = .remove(try CredentialSubject(arguments))
        case .makeDefault: work = .makeDefault(try CredentialSubject(arguments))
        case .take: work = .take(try CredentialImport(arguments))
        case .export: work = .export(try .init(arguments, option: "to", operand: 1))
        }
        let path = try RuleFilePath.choose(arguments.value(of: "config"))
        guard let place = CredentialStorePlace(try RuleFile.read(path).valid()) else {
            throw .configuration(StatePath.unknown(for: "credentials"))
        }
        self.place = place
    }

    /// A store keeps what is permanent. `session` and `none` end with a client's session and with a request, and a
    /// command has neither (as in Apple's URLCredentialStorage, which keeps no other).
    private static func checkPersistence(_ arguments: Arguments) throws(CommandError) {
        let name = arguments.value(of: "persistence") ?? Credential.Persistence.permanent.rawValue
        let known: [Credential.Persistence] = [.permanent, .session, .none]
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
            "a credential of persistence '\(name)' ends \(end), and the store keeps what outlives both: give it in the "
                + "request's URL, and say 'persistence \(name)' in the challenge's rule")
    }

    func run() throws(CommandError) -> Int32 {
        if place.isMissing {
            switch work {
            case .set, .take: break
            case .list: return ExitStatus.success
            case .remove, .makeDefault: throw .failed("there is no such credential: nothing is stored yet")
            case .export: throw .failed("nothing is stored yet")
            }
        }
        switch work {
        case .set(let subject, let passwordFile, let isDefault):
            // Asked first: nothing is opened for somebody who thinks better of it.
            let password = try PasswordEntry.read(from: passwordFile)
            try openOrMake { store throws(CommandError) in
                try store.set(subject.user, password, for: subject.space, asDefault: isDefault)
            }
        case .list: CredentialListing.show(try StoreEditing(place).rows)
        case .remove(let subject): try StoreEditing(place).remove(subject.user, for: subject.space)
        case .makeDefault(let subject): try StoreEditing(place).makeDefault(subject.user, for: subject.space)
        case .take(let taking): try run(taking)
        case .export(let key): try StoreEditing(place).export(sealedWith: key)
        }
        return ExitStatus.success
    }

    private func run(_ taking: CredentialImport) throws(CommandError) {
        let batch = try taking.read()
        if taking.isTrial {
            try taking.show(batch, beside: place.isMissing ? nil : try StoreEditing(place))
        } else {
            try openOrMake { store throws(CommandError) in try taking.keep(batch, in: store) }
        }
    }

    private func openOrMake(_ body: (StoreEditing) throws(CommandError) -> Void) throws(CommandError) {
        let isNew = place.isMissing
        try body(try StoreEditing(place))
        if isNew {
            Console.error("the store is new: a proxy that is running already looks at it when it is started again")
        }
    }
}
