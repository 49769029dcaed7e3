/// What `attache credential` is asked to do.
enum CredentialAction: String, CaseIterable {
    case set, list, remove
    case makeDefault = "default"
    case take = "import"
    case export

    /// The options that mean something here, apart from `--config`.
    private var options: Set<String> {
        switch self {
        case .set: ["realm", "method", "proxy", "password-file", "default", "persistence"]
        case .list: []
        case .remove, .makeDefault: ["realm", "method", "proxy"]
        case .take: ["realm", "method", "format", "protocol", "key", "dry-run"]
        case .export: ["to"]
        }
    }

    /// Throws when something was said that means nothing here.
    func check(_ arguments: Arguments) throws(CommandError) {
        if self == .list, arguments.operands.count > 1 { throw arguments.error("'list' takes no URL and no USER") }
        for option in CredentialCommand.syntax.options
        where option.name != "config" && !options.contains(option.name) && arguments.has(option.name) {
            throw arguments.error("'\(rawValue)' has no use for '--\(option.name)'")
        }
    }
}
