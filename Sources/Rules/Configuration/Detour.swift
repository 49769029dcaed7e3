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
