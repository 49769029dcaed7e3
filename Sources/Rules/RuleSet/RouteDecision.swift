/// How a request travels, and which `route` said so.
public struct RouteDecision: Sendable, Equatable {
    public let action: Configuration.Route.Action
    /// Nil: `http:` stays `http:`.
    public let upgrade: Configuration.Route.Upgrade?
    public let decodesContent: Bool
    /// Nil: TLS as it is spoken without a word.
    public let tls: TLSTerms?
    /// Nil: the origin is asked directly.
    public let detour: Detour?
    /// Nil: no route matched, and the request travels as it is.
    public let rule: RuleReference?

    init(_ route: Configuration.Route) {
        action = route.action
        upgrade = route.upgrade
        decodesContent = route.decodesContent
        tls = route.tls
        detour = route.detour
        rule = route.rule
    }

    private init() {
        action = .tunnel
        upgrade = nil
        decodesContent = false
        tls = nil
        detour = nil
        rule = nil
    }

    /// What holds when no route matches.
    public static let none = RouteDecision()
}
