/// One of the ways that a route names.
public enum RouteHop {
    case direct
    case parent(Parent)

    public var parent: Parent? {
        if case .parent(let parent) = self { parent } else { nil }
    }

    var isWorthTrying: Bool {
        switch self {
        case .direct: true
        case .parent(let parent): parent.health == .working
        }
    }

    /// - Parameter isRelayed: whether a parent that speaks HTTP makes the request itself.
    public func way(isRelayed: Bool) -> UpstreamPath {
        switch self {
        case .direct: .direct
        case .parent(let parent): isRelayed && parent.speaksHTTP ? .relayed(parent) : .tunnelled(parent)
        }
    }
}
