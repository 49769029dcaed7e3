import Model

/// The treatment of a request, and the `route` that decided it. Immutable and shared, so that a request can carry it
/// for one retain.
public final class RouteDecision: Sendable {
    public let action: Configuration.Route.Action
    /// The upgrade; nil if `http:` stays `http:`.
    public let upgrade: Configuration.Route.Upgrade?
    public let decodesContent: Bool
    /// The TLS terms; nil for the defaults.
    public let tls: Configuration.TLSTerms?
    public let trace: Configuration.Route.Trace
    public let http2: Configuration.Route.HTTP2
    /// The parents; nil if the origin is connected to directly.
    public let parentList: Configuration.ParentList?
    /// The rule; nil if no route matched, and the request is forwarded as it is.
    public let rule: RuleReference?

    /// - Parameter route: the route that matched; nil if none did.
    init(_ route: Configuration.Route?) {
        action = route?.action ?? .tunnel
        upgrade = route?.upgrade
        decodesContent = route?.decodesContent ?? false
        tls = route?.tls
        trace = route?.trace ?? .no
        http2 = route?.http2 ?? .yes
        parentList = route?.parentList
        rule = route?.rule
    }

    /// The decision if no route matches.
    public static let none = RouteDecision(nil)
}
