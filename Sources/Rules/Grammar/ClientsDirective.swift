enum ClientsDirective: String, DirectiveName {
    case allow
    case authenticate
    case realm
    case users
    case nonceKey = "nonce-key"
    case keytab
    case allowPrincipals = "allow-principals"
    case tokens

    static let block: String? = "clients"

    var grammar: DirectiveGrammar {
        switch self {
        case .allow: .some("addresses or blocks such as 10.0.0.0/8", repeats: true)
        case .authenticate: .some("'none', 'basic', 'digest', 'negotiate' or 'bearer'", .never)
        case .realm: .one("a text")
        case .users: .one("'file' and a path", .atUse)
        case .nonceKey: .one("'file' and a path, or 'env' and a name", .atUse)
        case .keytab: .one("a path", .path)
        case .allowPrincipals:
            .some("principals such as alice@EXAMPLE.COM or *@EXAMPLE.COM", .never, repeats: true)
        case .tokens: .one("'file' and a path", .atUse)
        }
    }
}
