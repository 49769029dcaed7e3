/// The way of one request to its origin.
public enum UpstreamPath {
    case direct
    /// A parent that speaks HTTP makes the request itself. It gets the request in absolute-form (RFC 9112 section
    /// 3.2.2).
    case relayed(Parent)
    /// A parent passes a connection through.
    case tunnelled(Parent)

    public var parent: Parent? {
        switch self {
        case .direct: nil
        case .relayed(let parent), .tunnelled(let parent): parent
        }
    }

    /// The parent that reads the request, and may challenge.
    public var relay: Parent? {
        if case .relayed(let parent) = self { parent } else { nil }
    }

    /// The server at the other end of the connection: the relaying parent, or the origin.
    public func peer(of origin: UpstreamServer) -> UpstreamServer { relay?.origin ?? origin }
}
