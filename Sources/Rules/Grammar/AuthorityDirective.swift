enum AuthorityDirective: String, DirectiveName {
    case certificate
    case key
    case passphrase
    case names

    static let block: String? = "authority"

    var grammar: DirectiveGrammar {
        switch self {
        case .certificate, .key: .one("a path", .path)
        case .passphrase: .one("a value, 'env' and a name, or 'file' and a path", .atUse)
        case .names: .some("names such as *.example.com, addresses or blocks", repeats: true)
        }
    }
}
