import Bytes
import Model
import Synchronization

/// A space that has accepted credentials, with the authenticator for each of them.
public final class KnownSpace: Sendable {
    public let space: ProtectionSpace
    private let state = Mutex(State())

    private struct State {
        var extents: [Extent] = []
        /// The parts of the extents that turned out not to belong to the space.
        var exclusions: [Extent] = []
        /// The authenticators, each with its size in bytes: of its challenge and its credential.
        var entries: [(version: CredentialVersion, authenticator: any Authenticator, weight: Int)] = []
        /// The preemptive answers, made once and then reused.
        var preemptive: [Answer] = []
        /// The credentials that the space has accepted and that have no authenticator here: an earlier process or
        /// another one used them.
        var accepted: [CredentialVersion] = []

        /// Whether an exclusion covers the target with a prefix at least that long.
        func excludes(_ target: Span<UInt8>, from length: Int) -> Bool {
            exclusions.contains { $0.coverage(of: target).map { $0 >= length } ?? false }
        }

        /// Adds an accepted version in place of others of its credential.
        mutating func accept(_ version: CredentialVersion) {
            accepted.removeAll { $0.key == version.key }
            if accepted.count >= entryLimit { accepted.removeFirst() }
            accepted.append(version)
        }

        /// Extends the space; true if it was smaller before.
        mutating func extend(to extent: Extent) -> Bool {
            guard extent != .nothing, !extents.contains(extent), !extents.contains(.origin) else { return false }
            if extent == .origin { extents = [] }
            if extents.count >= extentLimit { extents.removeFirst() }
            extents.append(extent)
            return true
        }
    }

    /// The limit of authenticators: more than rule files use. The number of credentials in URLs could be unlimited.
    private static let entryLimit = 64
    private static let extentLimit = 32

    init(_ space: ProtectionSpace) { self.space = space }

    /// The authenticator of exactly this version of the credential.
    public func authenticator(for version: CredentialVersion) -> (any Authenticator)? {
        state.withLock { state in
            for entry in state.entries where entry.version == version { return entry.authenticator }
            return nil
        }
    }

    /// The preemptive answer. Allocates nothing after the first call.
    ///
    /// - Parameters:
    ///   - isForAll: whether a rule sends it with every request.
    ///   - evidence: the evidence of the server about the credential.
    public func answer(
        with credential: Credential, kept persistence: Persistence, isForAll: Bool = false,
        by evidence: @autoclosure () -> Evidence
    ) -> Answer {
        state.withLock { state in
            for answer in state.preemptive
            where answer.credential.version == credential.version && answer.credential.persistence == persistence
                && answer.isPreemptive == isForAll
            {
                return answer
            }
            state.preemptive.removeAll { $0.credential.version.key == credential.version.key }
            if state.preemptive.count >= Self.entryLimit { state.preemptive.removeFirst() }
            let answer = Answer(
                space: space, challenge: isForAll ? .preemptive : nil, credential: credential.with(persistence),
                evidence: evidence())
            state.preemptive.append(answer)
            return answer
        }
    }

    /// Whether the space has accepted a version of this credential.
    public func knows(_ name: String) -> Bool {
        state.withLock { state in
            state.entries.contains { $0.version.isNamed(name) } || state.accepted.contains { $0.isNamed(name) }
        }
    }

    /// Whether this process has answered with a version of this credential.
    func hasAnswered(_ name: String) -> Bool {
        state.withLock { state in state.entries.contains { $0.version.isNamed(name) } }
    }

    /// The names of the accepted credentials.
    public var acceptedNames: [String] {
        state.withLock { state in
            Set((state.entries.map(\.version) + state.accepted).map(\.key)).sorted().map(\.text)
        }
    }

    /// Whether the space has accepted exactly this version, in this process or in another one.
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

    /// Removes the target and everything below it from the space.
    /// - Returns: whether it belonged to the space.
    func exclude(_ target: Span<UInt8>) -> Bool {
        guard let covered = coverage(of: target) else { return false }
        return state.withLock { state in
            if state.exclusions.count >= Self.extentLimit { state.exclusions.removeFirst() }
            state.exclusions.append(.exclusion(of: target, from: covered))
            return true
        }
    }

    /// Restores the target to the space, since an answer of the space was accepted there.
    /// - Returns: whether it was excluded.
    func readmit(_ target: Span<UInt8>) -> Bool {
        state.withLock { state in
            guard !state.exclusions.isEmpty, state.excludes(target, from: 0) else { return false }
            state.exclusions = state.exclusions.filter { $0.coverage(of: target) == nil }
            return true
        }
    }

    /// The effect of an accepted answer.
    enum Addition {
        /// The authenticator of this version is unchanged.
        case none
        /// A new authenticator of a version that this process has already answered with.
        case successor
        /// A version that this process has not answered with before.
        case version
    }

    /// Adds an authenticator in place of other versions of the credential.
    ///
    /// - Parameter weight: the size of the authenticator, in bytes.
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

    /// The estimated size of the space, in bytes.
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
            state.accept(version)
            return !isKnown
        }
    }

    /// - Returns: whether the space was smaller before.
    func extend(to extent: Extent) -> Bool {
        state.withLock { state in state.extend(to: extent) }
    }

    /// Adopts the knowledge of other processes.
    func adopt(_ learned: ProtectionSpaces.LearnedSpace) {
        state.withLock { state in
            for extent in learned.extents { _ = state.extend(to: extent) }
            for version in learned.accepted.suffix(Self.entryLimit)
            where !state.entries.contains(where: { $0.version.key == version.key }) {
                state.accept(version)
            }
        }
    }

    /// The facts for other processes.
    var learned: ProtectionSpaces.LearnedSpace {
        state.withLock { state in
            ProtectionSpaces.LearnedSpace(
                space: space, extents: space.authenticationMethod.traits.answersRequests ? state.extents : [],
                accepted: state.accepted + state.entries.map(\.version))
        }
    }
}
