import Authentication
import Model

extension CredentialCommand {
    /// The terms of a protection space on a command line, beside its server.
    struct SpaceTerms {
        let method: AuthenticationMethod
        let realm: String?

        private static let methods = AuthenticationMethod.allCases.filter { $0 != .other }

        /// - Parameter kinds: the kinds of credentials that are meant.
        init(
            _ arguments: Arguments, defaultMethod: AuthenticationMethod, kinds: [CredentialKind]
        ) throws(CommandError) {
            realm = arguments.value(of: "realm")
            let usual = realm == nil || defaultMethod != .default ? defaultMethod : .basic
            let name = arguments.value(of: "method") ?? Self.name(of: usual)
            guard let method = Self.methods.first(where: { Self.name(of: $0) == name }) else {
                let known = Self.methods.filter { kinds.contains($0.storedKind) }.map(Self.name(of:))
                throw arguments.error(Arguments.unknown("method", name, among: known))
            }
            guard kinds.contains(method.storedKind) else { throw arguments.error(Self.advice(on: method)) }
            self.method = method
            try check(arguments, name)
        }

        private static func name(of method: AuthenticationMethod) -> String {
            method == .default ? "any" : method.rawValue
        }

        private static func advice(on method: AuthenticationMethod) -> String {
            switch method.storedKind {
            case .password: "\(name(of: method)) needs a user and a password"
            case .token: "\(method) needs a token: add --token FILE"
            case .certificate: "\(method) needs a certificate: add --certificate FILE --key FILE"
            case .trust: "to store an exception for a server's key, run 'attache trust HOST:PORT --accept'"
            }
        }

        private func check(_ arguments: Arguments, _ name: String) throws(CommandError) {
            switch method.traits.realm {
            case .none: if realm != nil { throw arguments.error("\(name) has no realm") }
            case .every: if realm != nil { throw arguments.error("'any' is for every realm") }
            case .optional: break
            case .named:
                guard realm == nil else { return }
                throw arguments.error(
                    "\(name) needs the realm of the server's challenge: add --realm; "
                        + "'curl -i' shows it in the field WWW-Authenticate")
            }
        }

        func space(of origin: Origin) -> ProtectionSpace {
            ProtectionSpace(origin: origin, realm: realm, authenticationMethod: method)
        }
    }
}
