import Bytes
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
    }

    /// More than any rule file uses; credentials in URLs could be without number.
    private static let entryLimit = 64
    private static let extentLimit = 32

    init(_ space: ProtectionSpace) {
        self.space = space
        state = Mutex(State())
    }

    /// What answers for exactly this version of this credential.
    public func authenticator(for version: CredentialVersion) -> (any Authenticator)? {
        state.withLock { state in
            for entry in state.entries where entry.version == version { return entry.authenticator }
            return nil
        }
    }

    /// The answer to give unasked. Allocates nothing once it was asked for.
    public func answer(with credential: Credential, kept persistence: Credential.Persistence) -> Answer {
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
        state.withLock { state in state.entries.contains { $0.version.name == name } }
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
    func add(_ authenticator: any Authenticator, for version: CredentialVersion) {
        state.withLock { state in
            state.entries.removeAll { $0.version.name == version.name }
            if state.entries.count >= Self.entryLimit { state.entries.removeFirst() }
            state.entries.append((version, authenticator))
        }
    }

    func extend(to extent: Extent) {
        state.withLock { state in
            guard !state.extents.contains(extent), !state.extents.contains(.origin) else { return }
            if extent == .origin { state.extents = [] }
            if state.extents.count >= Self.extentLimit { state.extents.removeFirst() }
            state.extents.append(extent)
        }
    }

    /// Whether there was one.
    func remove(_ version: CredentialVersion) -> Bool {
        state.withLock { state in
            let before = state.entries.count
            state.entries.removeAll { $0.version == version }
            return state.entries.count < before
        }
    }
}
