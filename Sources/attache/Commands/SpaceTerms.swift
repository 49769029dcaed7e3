import Authentication
import Model

/// The terms of a protection space on a command line, beside its server.
struct SpaceTerms {
    let method: AuthenticationMethod
    let realm: String?

    private static let methods: [(name: String, method: AuthenticationMethod)] = [
        ("basic", .basic), ("digest", .digest), ("ntlm", .ntlm), ("negotiate", .negotiate),
        ("any", .default),
    ]

    init(_ arguments: Arguments, defaultMethod: AuthenticationMethod) throws(CommandError) {
        realm = arguments.value(of: "realm")
        let usual = realm == nil ? defaultMethod : .basic
        let name = arguments.value(of: "method") ?? (usual == .default ? "any" : usual.rawValue)
        guard let known = Self.methods.first(where: { $0.name == name }) else {
            throw arguments.error(Arguments.unknown("method", name, among: Self.methods.map(\.name)))
        }
        method = known.method
        try check(arguments, name)
    }

    private func check(_ arguments: Arguments, _ name: String) throws(CommandError) {
        switch method {
        case .ntlm, .negotiate: if realm != nil { throw arguments.error("\(name) has no realm") }
        case .default: if realm != nil { throw arguments.error("'any' speaks of every realm") }
        default:
            guard realm == nil else { return }
            throw arguments.error(
                "a \(name) challenge names a realm, and only that realm is answered: say --realm; "
                    + "'curl -i' shows it in WWW-Authenticate")
        }
    }

    func space(of origin: Origin) -> ProtectionSpace {
        ProtectionSpace(origin: origin, realm: realm, authenticationMethod: method)
    }
}
