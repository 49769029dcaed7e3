/// The top of the file. `include` is no directive of it: it may stand in any block and is gone before the parser looks.
enum FileDirective: String, DirectiveName {
    case listen
    case admin
    case threads
    case state
    case log
    case limits
    case timeouts
    case clients
    case egress
    case credential
    case route
    case challenge
    case authority
    case store
    case parent

    static let block: String? = nil

    var grammar: DirectiveGrammar {
        switch self {
        case .listen: .some("an address and a port", .path, repeats: true)
        case .admin: .one("an address and a port")
        case .threads: .one("'auto' or a number of threads")
        case .state: .one("a directory")
        case .log: .some("a format, then 'stdout', 'stderr' or 'file' and a path", .never)
        case .limits: .block()
        case .timeouts: .block()
        case .clients: .block()
        case .egress: .block()
        case .credential: .block(.one, "a name", repeats: true)
        case .route: .block(.one, "a host pattern", repeats: true)
        case .challenge: .block(.optional, "a name", repeats: true)
        case .authority: .block()
        case .store:
            .some("'sqlite' and a path, or 'postgresql' and a connection string", .atUse).withOptionalBlock()
        case .parent: .block(.one, "a name", repeats: true)
        }
    }
}
