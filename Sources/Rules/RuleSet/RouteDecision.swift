/// How a request travels, and which `route` said so.
public struct RouteDecision: Sendable, Equatable {
    public let action: Configuration.Route.Action
    public let decodesContent: Bool
    /// Nil: no route matched, and the request travels as it is.
    public let rule: RuleReference?

    /// What holds when no route matches.
    public static let none = RouteDecision(action: .tunnel, decodesContent: false, rule: nil)
}
