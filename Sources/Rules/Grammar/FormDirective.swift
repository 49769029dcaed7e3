/// The block of `form`, in a `challenge`.
enum FormDirective: String, DirectiveName {
    case recognise
    case login
    case fields

    static let block: String? = "form"

    var grammar: DirectiveGrammar {
        switch self {
        case .recognise:
            .some("'status' and a number, 'location' and a pattern, or 'contains' and a text", repeats: true)
        case .login: .one("a path")
        case .fields: .some("fields such as user={user} pass={password}", repeats: true)
        }
    }
}
