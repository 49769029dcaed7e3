import Bytes
import Synchronization

/// The known facts of one origin: the spaces that accepted a credential, and the directories that ask for none.
public final class KnownOrigin: Sendable {
    public let origin: Origin
    /// The bytes that `ProtectionSpaces` has counted for it. Touched under that one's lock alone.
    let counted = Atomic(0)
    private let state = Mutex(State())

    private struct State {
        var spaces: [KnownSpace] = []
        var openDirectories: Set<UInt64> = []
        /// So many directories were open that the rest is taken to be.
        var isOpenThroughout = false
        /// The nonces of each realm. The latest realm is the last one.
        var nonces: [(realm: ExactText?, counts: NonceCounts)] = []
    }

    private static let spaceLimit = 64
    private static let directoryLimit = 256
    private static let realmLimit = 16

    init(_ origin: Origin) { self.origin = origin }

    /// The space that a target lies in: the one with the longest prefix, of equals the one that accepted last.
    /// Allocates nothing.
    public func space(covering target: Span<UInt8>) -> KnownSpace? {
        state.withLock { state in
            var found: KnownSpace?
            var longest = -1
            for space in state.spaces {
                if let length = space.coverage(of: target), length >= longest {
                    found = space
                    longest = length
                }
            }
            return found
        }
    }

    /// An estimate of the bytes that it takes.
    var weight: Int { state.withLock { $0.spaces }.reduce(512) { $0 + $1.weight } }

    /// Whether the target's directory was last seen to ask for no credential. Allocates nothing.
    public func isOpen(_ target: Span<UInt8>) -> Bool {
        let directory = directory(of: target)
        return state.withLock { $0.isOpenThroughout || $0.openDirectories.contains(directory) }
    }

    /// The space itself, whatever it covers.
    public func space(_ space: ProtectionSpace) -> KnownSpace? {
        state.withLock { state in state.spaces.first { $0.space == space } }
    }

    /// The space, made if it is new, and moved behind the others.
    ///
    /// - Returns: with whether it did not stand there yet.
    func remembered(_ space: ProtectionSpace) -> (known: KnownSpace, isMoved: Bool) {
        state.withLock { state in
            if let last = state.spaces.last, last.space == space { return (last, false) }
            let known: KnownSpace
            if let index = state.spaces.firstIndex(where: { $0.space == space }) {
                known = state.spaces.remove(at: index)
            } else {
                known = KnownSpace(space)
                if state.spaces.count >= Self.spaceLimit { state.spaces.removeFirst() }
            }
            state.spaces.append(known)
            return (known, true)
        }
    }

    /// The counts of the Digest nonces that were named for the realm.
    func nonces(of realm: String?) -> NonceCounts {
        let realm = realm.map { ExactText($0) }
        return state.withLock { state in
            if let known = state.nonces.last(where: { $0.realm == realm }) { return known.counts }
            if state.nonces.count >= Self.realmLimit { state.nonces.removeFirst() }
            let counts = NonceCounts()
            state.nonces.append((realm, counts))
            return counts
        }
    }

    func markOpen(_ target: Span<UInt8>) {
        let directory = directory(of: target)
        state.withLock { state in
            if state.isOpenThroughout { return }
            state.openDirectories.insert(directory)
            if state.openDirectories.count > Self.directoryLimit {
                state.isOpenThroughout = true
                state.openDirectories = []
            }
        }
    }

    func markProtected(_ target: Span<UInt8>) {
        state.withLock { state in
            if !state.openDirectories.isEmpty { state.openDirectories.remove(directory(of: target)) }
        }
    }

    /// A hash stands for the directory: that two share one costs a challenge, nothing more.
    /// A proxy asks at its door, whatever lies behind.
    private func directory(of target: Span<UInt8>) -> UInt64 {
        if origin.isProxy { return 0 }
        var end = target.firstIndex(of: UInt8(ascii: "?")) ?? target.count
        while end > 0, target[end - 1] != .slash { end -= 1 }
        return SpanHash.of(target.extracting(first: end), seed: 0)
    }
}
