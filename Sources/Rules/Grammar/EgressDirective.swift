enum EgressDirective: String, DirectiveName {
    case deny
    case allow
    case connectPorts = "connect-ports"

    static let block: String? = "egress"

    var grammar: DirectiveGrammar {
        switch self {
        case .deny, .allow: .some("address classes, addresses or blocks such as 10.0.0.0/8", repeats: true)
        case .connectPorts: .some("ports or 'any'")
        }
    }
}
