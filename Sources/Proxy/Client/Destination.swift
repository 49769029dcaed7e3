import HTTP
import Rules

/// Where requests go that name an origin, and the route that says how. Made once for an origin and a set of rules.
final class Destination {
    let origin: Origin
    let route: RouteDecision
    /// Set where clients ask for `http` and `origin` is `https`, because the route says so.
    let upgrade: UpgradedOrigin?
    /// The latest, since the next request's are mostly the same.
    private var terms = ConnectionTerms.plain

    init(origin: Origin, route: RouteDecision, upgrade: UpgradedOrigin? = nil) {
        self.origin = origin
        self.route = route
        self.upgrade = upgrade
    }

    /// On which terms a connection is made for this client.
    /// - Parameter identities: `SharedState.identityGeneration`.
    func terms(
        for client: @autoclosure () -> ClientIdentity, by rules: RuleSet, identities: Int
    ) -> ConnectionTerms {
        guard origin.isSecure else { return .plain }
        let client = origin.dependsOnClient(by: rules) ? client() : nil
        let identities = origin.maySeeIdentity(by: rules) ? identities : 0
        if terms.tls !== route.tls || terms.client != client || terms.identities != identities {
            terms = ConnectionTerms(tls: route.tls, client: client, identities: identities)
        }
        return terms
    }
}
