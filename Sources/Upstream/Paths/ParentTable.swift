import Challenges
import IO
import PAC
import Rules
import Telemetry

/// The parents of one loop, with their health. They outlive a reload.
struct ParentTable {
    private struct Key: Hashable {
        let name: String
        let server: Configuration.Parent.Server
        let mayHaveCredentials: Bool
    }

    /// The parents of the rule file.
    private var configured: [Key: Parent] = [:]
    /// The parents that PAC files name. A PAC file may name another one for every host.
    private var found = LRUMap<Key, Parent>()
    private let pool: IdlePool
    private let board: ParentBoard
    private let limit: Int

    /// - Parameters:
    ///   - board: gets the figures of each parent.
    ///   - limit: the limit of parents from PAC files. Beyond it the least recently named one is removed.
    init(pool: IdlePool, board: ParentBoard = ParentBoard(), limit: Int = 1024) {
        self.pool = pool
        self.board = board
        self.limit = limit
    }

    /// The ways to a host that a route names, the first that works first. Empty: directly. Ways from PAC files are
    /// missing.
    mutating func hops(of parentList: Configuration.ParentList?, to host: Span<UInt8>) -> [RouteHop] {
        guard let parentList else { return [] }
        return parentList.legs(to: host).map { leg in
            switch leg {
            case .direct: .direct
            case .server(let server, let name): .parent(parent(server, named: name))
            }
        }
    }

    /// The ways to a host that a route names, with those of PAC files.
    ///
    /// - Parameter found: the ways of PAC files, by the name of their parent.
    mutating func hops(of parentList: Configuration.ParentList, to host: Span<UInt8>, found: [String: [PACPath]])
        -> [RouteHop]
    {
        var hops: [RouteHop] = []
        for hop in parentList.hops {
            guard case .parent(let group) = hop, !group.excepts(host) else { return hops + [.direct] }
            for server in group.servers { hops.append(.parent(parent(server, named: group.name))) }
            for way in found[group.name] ?? [] {
                guard let server = Configuration.Parent.server(of: way) else {
                    hops.append(.direct)
                    continue
                }
                let isTrusted = group.trusted.contains(server.address)
                hops.append(.parent(parent(server, named: group.name, mayHaveCredentials: isTrusted, isFound: true)))
            }
        }
        return hops
    }

    private mutating func parent(
        _ server: Configuration.Parent.Server, named name: String, mayHaveCredentials: Bool = true,
        isFound: Bool = false
    ) -> Parent {
        let key = Key(name: name, server: server, mayHaveCredentials: mayHaveCredentials)
        if let known = configured[key] ?? found.use(key) { return known }
        let parent = Parent(
            server, named: name, mayHaveCredentials: mayHaveCredentials, isFound: isFound, pool: pool)
        board.add(parent.figures)
        if isFound {
            found.makeRoom(below: limit)
            found.put(parent, for: key)
        } else {
            configured[key] = parent
        }
        return parent
    }
}
