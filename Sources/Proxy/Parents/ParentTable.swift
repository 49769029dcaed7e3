import Rules

/// The parents of one loop. They outlive a reload, with what is known of their health.
struct ParentTable {
    private struct Key: Hashable {
        let name: String
        let server: Configuration.Parent.Server
    }

    private var parents: [Key: Parent] = [:]
    private let room: IdleRoom

    init(room: IdleRoom) { self.room = room }

    /// The ways to a host that a route names, the first that works first. Empty: directly.
    mutating func hops(of detour: Detour?, to host: Span<UInt8>) -> [Hop] {
        guard let detour else { return [] }
        var hops: [Hop] = []
        for hop in detour.hops {
            guard case .parent(let group) = hop, !group.excepts(host) else {
                // What is asked directly needs no other way.
                return hops.isEmpty ? [] : hops + [.direct]
            }
            for server in group.servers { hops.append(.parent(parent(server, named: group.name))) }
        }
        return hops
    }

    private mutating func parent(_ server: Configuration.Parent.Server, named name: String) -> Parent {
        let key = Key(name: name, server: server)
        if let known = parents[key] { return known }
        let parent = Parent(server, named: name, room: room)
        parents[key] = parent
        return parent
    }

    func closeIdle() {
        for parent in parents.values { parent.origin.closeIdle() }
    }
}
