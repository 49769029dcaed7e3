import Admin
import Authentication
import Credentials
import Rules

extension CredentialCommand {
    /// The command `attache credential retry`: has refused credentials sent again at once, by the running proxy and by
    /// all that share its store.
    struct Retry {
        private let origin: Origin?
        /// The KDC whose refusal is lifted, as `attache credential list` names it.
        private let kdc: String?
        /// A credential's name, or the user of a stored one.
        private let name: String?

        init(_ arguments: Arguments) throws(CommandError) {
            let first = arguments.operand(1)
            if let first, first.hasPrefix(Self.kdcMark) {
                if first == Self.kdcMark { throw arguments.error("'\(first)' has no realm; write krb5:EXAMPLE.COM") }
                (origin, kdc, name) = (nil, first, arguments.operand(2))
                return
            }
            kdc = nil
            guard let url = first, url.contains("://") || arguments.operand(2) != nil else {
                (origin, name) = (nil, first)
                return
            }
            name = arguments.operand(2)
            origin = try arguments.origin(of: url)
        }

        private static let kdcMark = "krb5:"

        /// - Parameter path: the rule file's.
        func run(_ configuration: Configuration, at path: String, _ place: CredentialStore.Place?) throws(CommandError)
        {
            var query = ControlQuery()
            if let origin { query.add(origin) }
            if let kdc { query.add("kdc", kdc) }
            if let name { query.add("name", name) }
            if (try? ControlSocket.path(state: configuration.state)) != nil,
                let answer = try RunningProxy(configuration, at: path).ask("POST", "/credentials/retry\(query)")
            {
                return show(Self.names(answer))
            }
            guard let place, !place.isMissing else {
                throw .failed("no proxy runs, and nothing is stored: no credential is on hold")
            }
            show(try StoreEditing(place).retry(CredentialChoice(origin: origin, kdc: kdc, name: name)))
        }

        private static func names(_ answer: String) -> [String] { answer.split(separator: "\n").map(String.init) }

        private func show(_ names: [String]) {
            if names.isEmpty {
                let server = (kdc.map(Console.printable) ?? origin?.words).map { " at \($0)" } ?? ""
                let sentence = name.map { "\(Console.printable($0)) is not on hold\(server)" }
                let nothing = sentence ?? "no credential is on hold\(server)"
                Console.error("\(nothing); 'attache credential list' shows each credential's state")
            }
            for name in Set(names).sorted() { Console.print("\(Console.printable(name)) is sent again from now on") }
        }
    }
}
