import Authentication
import Model

extension CredentialCommand {
    /// The credential that a command line names.
    struct Subject {
        let space: ProtectionSpace
        /// The user, or the name of a credential without a user; nil if none was given.
        private let said: String?

        /// - Parameter entry: the value that it gets; nil if none.
        init(_ arguments: Arguments, entry: CredentialCommand.Entry? = nil) throws(CommandError) {
            let mayBeNameless = entry.map { !$0.needsName } ?? (arguments.value(of: "method") == "\(Self.nameless)")
            guard let url = arguments.operand(1) else {
                throw arguments.error("\(mayBeNameless ? "URL is" : "URL and USER are") missing")
            }
            said = arguments.operand(2)
            if said == nil, !mayBeNameless { throw arguments.error("USER is missing") }
            space = try Self.space(url, arguments, entry)
            guard let said else { return }
            if said.isEmpty || Console.printable(said) != said {
                throw arguments.error("'USER' is not a user name: write the name itself")
            }
            if space.authenticationMethod == .basic, said.contains(":") {
                throw arguments.error("a user's name cannot have a colon in it")
            }
        }

        /// - Parameter value: the value that is stored: a certificate has its own name.
        func name(of value: CredentialCommand.Entry.Value? = nil) -> String { said ?? value?.ownName ?? "token" }

        /// The method whose credentials may have no name, because a server has few tokens.
        private static let nameless = AuthenticationMethod.bearer

        private static func space(
            _ url: String, _ arguments: Arguments, _ entry: CredentialCommand.Entry?
        ) throws(CommandError) -> ProtectionSpace {
            let isProxy = try arguments.yesOrNo("proxy") ?? false
            let origin: Origin
            do throws(ExplanationError) { origin = try Origin(urlOrAnyPort: url, isProxy: isProxy) } catch {
                throw arguments.error(error.sentence)
            }
            if origin.protocol == .socks {
                guard entry?.kind ?? .password == .password,
                    !["realm", "method", "proxy"].contains(where: { arguments.has($0) })
                else {
                    throw arguments.error("a SOCKS server takes user and password only: remove --method and --realm")
                }
                return ProtectionSpace(origin: origin, realm: nil, authenticationMethod: .basic)
            }
            let kinds = entry.map { [$0.kind] } ?? CredentialKind.allCases
            let space = try SpaceTerms(arguments, defaultMethod: entry?.method ?? .basic, kinds: kinds).space(
                of: origin)
            guard [.certificate, .trust].contains(space.authenticationMethod.storedKind) else { return space }
            if origin.protocol != .https {
                throw arguments.error("\(space.authenticationMethod) needs an https:// URL")
            }
            if origin.port == Origin.anyPort {
                throw arguments.error("\(space.authenticationMethod) is for one port: write it instead of '*'")
            }
            if isProxy, space.authenticationMethod == .serverTrust {
                throw arguments.error("an exception is for an address, with or without a proxy: remove '--proxy'")
            }
            return space
        }
    }
}
