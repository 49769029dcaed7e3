enum StoreDirective: String, DirectiveName {
    case key

    static let block: String? = "store"

    var grammar: DirectiveGrammar { .one("'file' and a path, or 'env' and a name", .atUse) }
}
