enum ClientsDirective: String, DirectiveName {
    case allow
    case authenticate
    case realm
    case users

    static let block: String? = "clients"

    var grammar: DirectiveGrammar {
        switch self {
        case .allow: .some("addresses or blocks such as 10.0.0.0/8", repeats: true)
        case .authenticate: .some("'none' or 'basic'", .never)
        case .realm: .one("a text")
        case .users: .one("'file' and a path", .atUse)
        }
    }
}
