/// How a request travels, and which `route` said so. Immutable and shared, so that a request carries it at the price of
/// one retain.
public final class RouteDecision: Sendable, Equatable {
    public let action: Configuration.Route.Action
    /// Nil: `http:` stays `http:`.
    public let upgrade: Configuration.Route.Upgrade?
    public let decodesContent: Bool
    /// Nil: TLS as it is spoken without a word.
    public let tls: TLSTerms?
    public let trace: Configuration.Route.Trace
    /// Nil: the origin is asked directly.
    public let parentList: ParentList?
    /// Nil: no route matched, and the request travels as it is.
    public let rule: RuleReference?

    init(_ route: Configuration.Route) {
        action = route.action
        upgrade = route.upgrade
        decodesContent = route.decodesContent
        tls = route.tls
        trace = route.trace
        parentList = route.parentList
        rule = route.rule
    }

    private init() {
        action = .tunnel
        upgrade = nil
        decodesContent = false
        tls = nil
        trace = .no
        parentList = nil
        rule = nil
    }

    /// Holds when no route matches.
    public static let none = RouteDecision()

    public static func == (left: RouteDecision, right: RouteDecision) -> Bool {
        left === right
            || left.action == right.action && left.upgrade == right.upgrade
                && left.decodesContent == right.decodesContent && left.tls == right.tls
                && left.trace == right.trace && left.parentList == right.parentList
                && left.rule == right.rule
    }
}
