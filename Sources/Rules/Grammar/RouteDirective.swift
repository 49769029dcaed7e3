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
        case .tunnel, .deny, .decode: .none()
        case .upgrade, .intercept, .via, .tls: .later
        }
    }
}
