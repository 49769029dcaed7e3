import HTTP
import Rules

/// Where a request goes, and the route that says how.
struct Destination {
    let origin: Origin
    let route: RouteDecision
    /// Set where the client asked for `http` and `origin` is `https`, because the route says so.
    var upgrade: UpgradedOrigin?
}
