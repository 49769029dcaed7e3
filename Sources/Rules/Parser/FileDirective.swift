/// The directives at the top of the file. `include` is not one of them: it is allowed in every block, and is resolved before
/// the parser runs.
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
    case ask
    case mode
    case traces

    static let block: String? = nil

    var grammar: DirectiveGrammar {
        switch self {
        case .listen: .some("an address and a port", .path, repeats: true, block: .optional)
        case .admin: .some("an address and a port", block: .optional)
        case .threads: .one("'auto' or a number of threads")
        case .state: .one("a directory")
        case .log: .some("a format, then 'stdout', 'stderr', 'syslog', or 'file' and a path", .never)
        case .limits, .timeouts, .clients, .traces: .block()
        case .egress, .authority: .block(repeats: true)
        case .credential, .parent: .block(.one, "a name", repeats: true)
        case .route: .block(.one, "a host pattern", repeats: true)
        case .challenge: .block(.optional, "a name", repeats: true)
        case .store:
            .some("'sqlite' and a path, or 'postgresql' and a connection string", .atUse, block: .optional)
        case .ask: .some("'webhook' and a URL", block: .optional)
        case .mode: .one("'enforce' or 'report'")
        }
    }
}
