/// `via` in a `route`: the parents that its requests go through. Immutable and shared.
public final class Detour: Sendable, Equatable {
    public enum Hop: Sendable, Equatable {
        case parent(Configuration.Parent)
        /// Without a parent, when those before do not work.
        case direct
    }

    /// The first that works first; never empty.
    public let hops: [Hop]

    public init(_ hops: [Hop]) {
        self.hops = hops
    }

    public static func == (left: Detour, right: Detour) -> Bool { left === right || left.hops == right.hops }

    /// Whether a PAC file says some of its ways.
    public var isAutomatic: Bool {
        hops.contains { hop in
            if case .parent(let parent) = hop { parent.automatic != nil } else { false }
        }
    }

    /// A way to one host that the rule file itself says.
    public enum Leg: Sendable, Equatable {
        case direct
        case server(Configuration.Parent.Server, of: String)
    }

    /// The ways to a host, the first that works first. Empty: directly, since the first parent excepts it.
    public func legs(to host: Span<UInt8>) -> [Leg] {
        var legs: [Leg] = []
        for hop in hops {
            guard case .parent(let parent) = hop, !parent.excepts(host) else {
                // What is asked directly needs no other way.
                return legs.isEmpty ? [] : legs + [.direct]
            }
            legs += parent.servers.map { .server($0, of: parent.name) }
        }
        return legs
    }

    /// The names of the rule file.
    var words: String {
        hops.map { hop in
            switch hop {
            case .parent(let parent): parent.name
            case .direct: "direct"
            }
        }.joined(separator: " ")
    }
}
