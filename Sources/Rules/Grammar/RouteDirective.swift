enum RouteDirective: String, DirectiveName {
    case tunnel
    case deny
    case decode
    case upgrade
    case intercept
    case via
    case tls

    static let block: String? = "route"

    var grammar: DirectiveGrammar {
        switch self {
        case .tunnel, .deny, .intercept, .decode: .none()
        case .upgrade: .optional("a port")
        case .tls: .some("'minimum' and a version, or 'revocation' and paths", .path, repeats: true)
        case .via: .some("the names of parents")
        }
    }
}
