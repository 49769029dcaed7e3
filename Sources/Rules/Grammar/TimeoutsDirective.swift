enum TimeoutsDirective: String, DirectiveName {
    case head
    case idle
    case connect
    case response
    case drain
    case session

    static let block: String? = "timeouts"

    var grammar: DirectiveGrammar { .one("a duration such as 500ms, 10s, 5m or 1h") }
}
