import Bytes
import Model
import Synchronization

/// A space that has accepted credentials, with what answers it for each of them.
public final class KnownSpace: Sendable {
    public let space: ProtectionSpace
    private let state: Mutex<State>

    private struct State {
        var extents: [Extent] = []
        /// The parts of them that have shown not to belong to the space.
        var exclusions: [Extent] = []
        /// Each with the bytes that its authenticator holds: of its challenge and its credential.
        var entries: [(version: CredentialVersion, authenticator: any Authenticator, weight: Int)] = []
        /// Made once, and given again and again.
        var unasked: [Answer] = []
        /// The credentials that it has accepted, and that nothing answers with at the moment: from an earlier process, or
        /// from another one.
        var accepted: [CredentialVersion] = []
        /// Whether an exclusion reaches the target that is nearer than the prefix of that length.
        func excludes(_ target: Span<UInt8>, from length: Int) -> Bool {
            for index in exclusions.indices {
                if let nearer = exclusions[index].coverage(of: target), nearer >= length { return true }
            }
            return false
        }

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
    ///
    /// - Parameters:
    ///   - isForAll: whether a rule sends it with every request.
    ///   - evidence: what the server has said of the credential.
    public func answer(
        with credential: Credential, kept persistence: Persistence, isForAll: Bool = false,
        by evidence: @autoclosure () -> Evidence
    ) -> Answer {
        state.withLock { state in
            for answer in state.unasked
            where answer.credential.version == credential.version && answer.credential.persistence == persistence
                && answer.isUnasked == isForAll
            {
                return answer
            }
            state.unasked.removeAll { $0.credential.version.key == credential.version.key }
            if state.unasked.count >= Self.entryLimit { state.unasked.removeFirst() }
            let answer = Answer(
                space: space, challenge: isForAll ? .unasked : nil, credential: credential.with(persistence),
                evidence: evidence())
            state.unasked.append(answer)
            return answer
        }
    }

    /// Whether it has accepted a version of this credential.
    public func knows(_ name: String) -> Bool {
        state.withLock { state in
            state.entries.contains { $0.version.isNamed(name) } || state.accepted.contains { $0.isNamed(name) }
        }
    }

    /// Whether a version of this credential was answered with in this process.
    func hasAnswered(_ name: String) -> Bool {
        state.withLock { state in state.entries.contains { $0.version.isNamed(name) } }
    }

    /// The names of the credentials that it accepts.
    public var acceptedNames: [String] {
        state.withLock { state in
            Set((state.entries.map(\.version) + state.accepted).map(\.key)).sorted().map(\.text)
        }
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
            guard let longest, !state.exclusions.isEmpty else { return longest }
            return state.excludes(target, from: longest) ? nil : longest
        }
    }

    /// The target, with what is below it, belongs to the space no more.
    /// - Returns: whether it did.
    func exclude(_ target: Span<UInt8>) -> Bool {
        guard let covered = coverage(of: target) else { return false }
        return state.withLock { state in
            if state.exclusions.count >= Self.extentLimit { state.exclusions.removeFirst() }
            state.exclusions.append(.exclusion(of: target, from: covered))
            return true
        }
    }

    /// The space was answered at that target after all.
    /// - Returns: whether it was excluded.
    func readmit(_ target: Span<UInt8>) -> Bool {
        state.withLock { state in
            guard !state.exclusions.isEmpty, state.excludes(target, from: 0) else { return false }
            state.exclusions = state.exclusions.filter { $0.coverage(of: target) == nil }
            return true
        }
    }

    /// The effect of an answer that was accepted.
    enum Addition {
        /// The authenticator of this version is the one that it was.
        case none
        /// Another authenticator of a version that has been answered with in this process.
        case successor
        /// A version that has not been answered with in this process.
        case version
    }

    /// Replaces other versions of the credential.
    ///
    /// - Parameter weight: the bytes that the authenticator holds.
    func add(_ authenticator: any Authenticator, for version: CredentialVersion, weight: Int) -> Addition {
        state.withLock { state in
            if state.accepted.isEmpty,
                state.entries.contains(where: { $0.authenticator === authenticator && $0.version == version })
            {
                return .none
            }
            let isNew = !state.entries.contains { $0.version == version }
            state.accepted.removeAll { $0.key == version.key }
            state.entries.removeAll { $0.version.key == version.key }
            if state.entries.count >= Self.entryLimit { state.entries.removeFirst() }
            state.entries.append((version, authenticator, weight))
            return isNew ? .version : .successor
        }
    }

    /// An estimate of the bytes that the space takes.
    var weight: Int {
        state.withLock { state in
            let base = 512 + (space.realm?.utf8.count ?? 0)
            let paths = state.exclusions.reduce(state.extents.reduce(0) { $0 + $1.byteCount }) { $0 + $1.byteCount }
            let accepted = state.accepted.reduce(0) { $0 + $1.name.utf8.count + 64 }
            return state.entries.reduce(base + paths + accepted) { $0 + $1.version.name.utf8.count + $1.weight + 256 }
        }
    }

    /// - Returns: whether it was not accepted before.
    func accept(_ version: CredentialVersion) -> Bool {
        state.withLock { state in
            let isKnown = state.accepted.contains(version)
            state.accepted.removeAll { $0.key == version.key }
            if state.accepted.count >= Self.entryLimit { state.accepted.removeFirst() }
            state.accepted.append(version)
            return !isKnown
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
            where !state.entries.contains(where: { $0.version.key == version.key }) {
                state.accepted.removeAll { $0.key == version.key }
                if state.accepted.count >= Self.entryLimit { state.accepted.removeFirst() }
                state.accepted.append(version)
            }
        }
    }

    /// The facts that others may want to know of it.
    var learned: LearnedSpace {
        state.withLock { state in
            LearnedSpace(
                space: space, extents: space.authenticationMethod.sharesExtents ? state.extents : [],
                accepted: state.accepted + state.entries.map(\.version))
        }
    }
}
