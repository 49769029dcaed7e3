import Rules

/// Where a request goes, and the route that says how.
struct Destination {
    let origin: Origin
    let route: RouteDecision
}
