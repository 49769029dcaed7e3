enum ParentDirective: String, DirectiveName {
    case http
    case https
    case socks5
    case socks4a
    case pac
    case credentials
    case except

    static let block: String? = "parent"

    var grammar: DirectiveGrammar {
        switch self {
        case .http, .https, .socks5, .socks4a: .some("hosts and ports such as proxy.example.com:8080", repeats: true)
        case .pac: .one("a path")
        case .credentials:
            .some("hosts and ports such as proxy.example.com:8080", repeats: true)
        case .except: .some("host patterns, addresses or blocks", repeats: true)
        }
    }
}
