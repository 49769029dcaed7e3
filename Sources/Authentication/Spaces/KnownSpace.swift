import Bytes
import Model
import Synchronization

/// A space that has accepted credentials, with what answers it for each of them.
public final class KnownSpace: Sendable {
    public let space: ProtectionSpace
    private let state: Mutex<State>

    private struct State {
        var extents: [Extent] = []
        var entries: [(version: CredentialVersion, authenticator: any Authenticator)] = []
        /// Made once, and given again and again.
        var unasked: [Answer] = []
        /// The credentials it has accepted from others: an earlier process, or another one.
        var accepted: [CredentialVersion] = []

        /// Whether it was smaller before.
        mutating func extend(to extent: Extent) -> Bool {
            guard extent != .nothing, !extents.contains(extent), !extents.contains(.origin) else { return false }
            if extent == .origin { extents = [] }
            if extents.count >= extentLimit { extents.removeFirst() }
            extents.append(extent)
            return true
        }
    }

    /// More than any rule file uses; credentials in URLs could be without number.
    private static let entryLimit = 64
    private static let extentLimit = 32

    init(_ space: ProtectionSpace) {
        self.space = space
        state = Mutex(State())
    }

    /// The authenticator of exactly this version of this credential.
    public func authenticator(for version: CredentialVersion) -> (any Authenticator)? {
        state.withLock { state in
            for entry in state.entries where entry.version == version { return entry.authenticator }
            return nil
        }
    }

    /// The answer to give unasked. Allocates nothing once it was asked for.
    public func answer(with credential: Credential, kept persistence: Persistence) -> Answer {
        state.withLock { state in
            for answer in state.unasked
            where answer.credential.version == credential.version && answer.credential.persistence == persistence {
                return answer
            }
            state.unasked.removeAll { $0.credential.version.name == credential.version.name }
            if state.unasked.count >= Self.entryLimit { state.unasked.removeFirst() }
            let answer = Answer(space: space, challenge: nil, credential: credential.with(persistence))
            state.unasked.append(answer)
            return answer
        }
    }

    /// Whether it has accepted a version of this credential.
    public func knows(_ name: String) -> Bool {
        state.withLock { state in
            state.entries.contains { $0.version.name == name } || state.accepted.contains { $0.name == name }
        }
    }

    /// Whether a version of this credential was answered with in this process.
    func hasAnswered(_ name: String) -> Bool {
        state.withLock { state in state.entries.contains { $0.version.name == name } }
    }

    /// Whether it has accepted exactly this version, here or from others.
    public func hasAccepted(_ version: CredentialVersion) -> Bool {
        state.withLock { state in
            state.accepted.contains(version) || state.entries.contains { $0.version == version }
        }
    }

    /// The length of the longest prefix of the target that belongs to the space.
    func coverage(of target: Span<UInt8>) -> Int? {
        state.withLock { state in
            var longest: Int?
            for index in state.extents.indices {
                if let length = state.extents[index].coverage(of: target), length > longest ?? -1 { longest = length }
            }
            return longest
        }
    }

    /// Replaces other versions of the credential.
    ///
    /// - Returns: whether this one has not been answered with in this process.
    func add(_ authenticator: any Authenticator, for version: CredentialVersion) -> Bool {
        state.withLock { state in
            let isNew = !state.entries.contains { $0.version == version }
            state.accepted.removeAll { $0.name == version.name }
            state.entries.removeAll { $0.version.name == version.name }
            if state.entries.count >= Self.entryLimit { state.entries.removeFirst() }
            state.entries.append((version, authenticator))
            return isNew
        }
    }

    /// - Returns: whether it was smaller before.
    @discardableResult
    func extend(to extent: Extent) -> Bool {
        state.withLock { state in state.extend(to: extent) }
    }

    /// Takes over what others have learned.
    func adopt(_ learned: LearnedSpace) {
        state.withLock { state in
            for extent in learned.extents { _ = state.extend(to: extent) }
            for version in learned.accepted.suffix(Self.entryLimit)
            where !state.entries.contains(where: { $0.version.name == version.name }) {
                state.accepted.removeAll { $0.name == version.name }
                if state.accepted.count >= Self.entryLimit { state.accepted.removeFirst() }
                state.accepted.append(version)
            }
        }
    }

    /// The facts that others may want to know of it.
    var learned: LearnedSpace {
        state.withLock { state in
            LearnedSpace(
                space: space, extents: state.extents, accepted: state.accepted + state.entries.map(\.version))
        }
    }

    /// Whether there was one.
    func remove(_ version: CredentialVersion) -> Bool {
        state.withLock { state in
            let before = state.entries.count + state.accepted.count
            state.entries.removeAll { $0.version == version }
            state.accepted.removeAll { $0 == version }
            return state.entries.count + state.accepted.count < before
        }
    }
}
