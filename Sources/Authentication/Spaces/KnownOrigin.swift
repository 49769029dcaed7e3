import Bytes
import Synchronization

/// The known facts of one origin: the spaces that accepted a credential, and the directories without challenges.
public final class KnownOrigin: Sendable {
    public let origin: Origin
    /// The bytes that `ProtectionSpaces` has counted for this origin. Used only under the lock of `ProtectionSpaces`.
    let counted = Atomic(0)
    private let state = Mutex(State())

    private struct State {
        var spaces: [KnownSpace] = []
        var openDirectories: Set<UInt64> = []
        /// Whether so many directories are open that the whole origin counts as open.
        var isOpenThroughout = false
        /// The nonces of each realm, the latest realm last.
        var nonces: [(realm: ExactText?, counts: NonceCounts)] = []
    }

    private static let spaceLimit = 64
    private static let directoryLimit = 256
    private static let realmLimit = 16

    init(_ origin: Origin) { self.origin = origin }

    /// The space of a target: the one with the longest prefix; of several, the one that accepted last. Allocates
    /// nothing.
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

    /// The estimated size in bytes.
    var weight: Int { state.withLock { $0.spaces }.reduce(512) { $0 + $1.weight } }

    /// Whether the target's directory last sent no challenge. Allocates nothing.
    public func isOpen(_ target: Span<UInt8>) -> Bool {
        let directory = directory(of: target)
        return state.withLock { $0.isOpenThroughout || $0.openDirectories.contains(directory) }
    }

    /// The known space that equals `space`, independent of its extent.
    public func space(_ space: ProtectionSpace) -> KnownSpace? {
        state.withLock { state in state.spaces.first { $0.space == space } }
    }

    /// The space, created if it is new, and moved to the end.
    ///
    /// - Returns: the space, and whether it was not at the end before.
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

    /// A hash that represents the directory. If two directories have the same hash, that costs only a challenge. A
    /// proxy has one directory, since it challenges for every target.
    private func directory(of target: Span<UInt8>) -> UInt64 {
        if origin.isProxy { return 0 }
        var end = target.firstIndex(of: UInt8(ascii: "?")) ?? target.count
        while end > 0, target[end - 1] != .slash { end -= 1 }
        return SpanHash.of(target.extracting(first: end), seed: 0)
    }
}
