import Admin
import Authentication
import Credentials
import Rules

/// `attache credential retry`: gives refused credentials another chance, in the running proxy and in all that share its store.
struct CredentialRetry {
    private let origin: Origin?
    /// Or a credential's name.
    private let user: String?

    init(_ arguments: Arguments) throws(CommandError) {
        user = arguments.operand(2)
        guard let url = arguments.operand(1) else {
            origin = nil
            return
        }
        do throws(ExplanationError) { origin = try Origin(url: url, isProxy: false) } catch {
            throw arguments.error(error.sentence)
        }
    }

    func run(_ configuration: Configuration, _ place: CredentialStorePlace?) throws(CommandError) {
        var query = ControlQuery()
        query.add("format", "text")
        if let origin { query.add(origin) }
        if let user { query.add("user", user) }
        if case .path = ControlPlace(configuration),
            let answer = try RunningProxy(configuration).ask("POST", "/parked/retry\(query)")
        {
            return show(answer)
        }
        guard let place, !place.isMissing else {
            throw .failed("no proxy runs, and nothing is stored: there is nothing to lift")
        }
        show(try StoreEditing(place).retry(where: fits).map { "\($0.words)\n" }.joined())
    }

    private func show(_ lifted: String) {
        if lifted.isEmpty {
            Console.error("no credential is refused there; 'attache credential list' shows those that are")
        } else {
            Console.printText(lifted)
        }
    }

    private func fits(_ entry: ParkedCredentials.Entry) -> Bool {
        if let origin, !entry.isAt(origin) { return false }
        return user.map { entry.isOf(user: $0) } ?? true
    }
}
