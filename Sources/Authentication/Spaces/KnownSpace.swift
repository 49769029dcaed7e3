import Bytes
import Model
import Synchronization

/// A space that has accepted credentials, with what answers it for each of them.
public final class KnownSpace: Sendable {
    public let space: ProtectionSpace
    public let opened = OpenedTargets()
    private let state: Mutex<State>

    private struct State {
        var extents: [Extent] = []
        /// The parts of them that have shown not to belong to the space.
        var exclusions: [Extent] = []
        var entries: [(version: CredentialVersion, authenticator: any Authenticator)] = []
        /// Made once, and given again and again.
        var unasked: [Answer] = []
        /// The credentials that it has accepted, and that nothing answers with at the moment: from others, an earlier process
        /// or another one; or such as were refused since.
        var accepted: [CredentialVersion] = []
        /// Of those the ones that were refused since.
        var withdrawn: [CredentialVersion] = []
        /// The versions that were refused at targets which they had not opened, since they were last accepted.
        var doubts: [CredentialVersion: Doubt] = [:]
        /// Versions that were sent unasked, refused, and never accepted.
        var suspicions: [CredentialVersion: Suspicion] = [:]

        /// Whether nothing but the entries speaks of versions.
        var isSettled: Bool {
            accepted.isEmpty && withdrawn.isEmpty && doubts.isEmpty && suspicions.isEmpty
        }

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

    private struct Doubt {
        var refusals = 0
        /// Until when no such target is answered with it, in milliseconds since 1970; `Int.max`: until it is accepted.
        var end = 0
    }

    /// One page that is not for a user says nothing of the others: each target has its own pause.
    private struct Suspicion {
        var refusals = 0
        /// By hash, with the end of the pause, as in `Doubt`.
        var targets: [(hash: UInt64, end: Int)] = []
    }

    /// More than any rule file uses; credentials in URLs could be without number.
    private static let entryLimit = 64
    private static let extentLimit = 32
    /// So many refusals in a row may be about their targets.
    private static let refusalLimit = 3

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
    /// - Parameter isForAll: whether a rule sends it with every request.
    public func answer(with credential: Credential, kept persistence: Persistence, isForAll: Bool = false) -> Answer {
        state.withLock { state in
            for answer in state.unasked
            where answer.credential.version == credential.version && answer.credential.persistence == persistence
                && answer.isUnasked == isForAll
            {
                return answer
            }
            state.unasked.removeAll { $0.credential.version.name == credential.version.name }
            if state.unasked.count >= Self.entryLimit { state.unasked.removeFirst() }
            let answer = Answer(
                space: space, challenge: isForAll ? .unasked : nil, credential: credential.with(persistence),
                opened: opened)
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

    /// The names of the credentials that it accepts.
    public var acceptedNames: [String] {
        state.withLock { state in
            let versions = state.entries.map(\.version) + state.accepted.filter { !state.withdrawn.contains($0) }
            return Set(versions.map(\.name)).sorted()
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
    func add(_ authenticator: any Authenticator, for version: CredentialVersion) -> Addition {
        state.withLock { state in
            if state.isSettled,
                state.entries.contains(where: { $0.authenticator === authenticator && $0.version == version })
            {
                return .none
            }
            let isNew = !state.entries.contains { $0.version == version }
            state.accepted.removeAll { $0.name == version.name }
            state.withdrawn.removeAll { $0.name == version.name }
            if !state.doubts.isEmpty { state.doubts = state.doubts.filter { $0.key.name != version.name } }
            if !state.suspicions.isEmpty {
                state.suspicions = state.suspicions.filter { $0.key.name != version.name }
            }
            state.entries.removeAll { $0.version.name == version.name }
            if state.entries.count >= Self.entryLimit { state.entries.removeFirst() }
            state.entries.append((version, authenticator))
            return isNew ? .version : .successor
        }
    }

    /// - Returns: whether it was not accepted before, or refused since.
    func accept(_ version: CredentialVersion) -> Bool {
        state.withLock { state in
            let isKnown = state.accepted.contains(version) && !state.withdrawn.contains(version)
            state.withdrawn.removeAll { $0.name == version.name }
            state.accepted.removeAll { $0.name == version.name }
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
                space: space, extents: space.authenticationMethod.sharesExtents ? state.extents : [],
                accepted: state.accepted + state.entries.map(\.version))
        }
    }

    /// Nothing answers with this version any more; that it was accepted once stays known.
    func withdraw(_ version: CredentialVersion) {
        state.withLock { state in
            let isKnown = state.accepted.contains(version) || state.entries.contains { $0.version == version }
            guard isKnown, !state.withdrawn.contains(version) else { return }
            state.entries.removeAll { $0.version == version }
            state.accepted.removeAll { $0 == version }
            for list in [\State.accepted, \State.withdrawn] {
                if state[keyPath: list].count >= Self.entryLimit { state[keyPath: list].removeFirst() }
                state[keyPath: list].append(version)
            }
        }
    }

    /// Whether a version that it has accepted was refused since.
    public func hasWithdrawn(_ version: CredentialVersion) -> Bool {
        state.withLock { $0.withdrawn.contains(version) }
    }

    /// A version that was accepted before was refused at a target that it had not opened.
    ///
    /// - Parameter retry: as `ParkedCredentials.park`.
    /// - Returns: whether that has happened so often that there is doubt about the version.
    func doubt(_ version: CredentialVersion, retry: [Int], at now: Int) -> Bool {
        state.withLock { state in
            if state.doubts.count >= Self.entryLimit, state.doubts[version] == nil { state.doubts = [:] }
            var doubt = state.doubts[version] ?? Doubt()
            doubt.refusals += 1
            let times = doubt.refusals - Self.refusalLimit
            let pause = retry.indices.contains(times) ? retry[times] : retry.last
            if times >= 0 { doubt.end = pause.map { now &+ $0 } ?? .max }
            state.doubts[version] = doubt
            return times >= 0
        }
    }

    /// Whether its last refusal was the first, or the one that raised doubt.
    func isNewDoubt(about version: CredentialVersion) -> Bool {
        let refusals = state.withLock { $0.doubts[version]?.refusals ?? $0.suspicions[version]?.refusals ?? 0 }
        return [1, Self.refusalLimit].contains(refusals)
    }

    /// A version that was never accepted was sent unasked, and refused.
    ///
    /// - Parameter retry: as above.
    /// - Returns: whether that has happened so often, and at more targets than one, that it is about the version.
    func suspect(_ version: CredentialVersion, at target: Span<UInt8>, retry: [Int], at now: Int) -> Bool {
        let hash = OpenedTargets.hash(target, version.fingerprint)
        return state.withLock { state in
            if state.suspicions.count >= Self.entryLimit, state.suspicions[version] == nil { state.suspicions = [:] }
            var suspicion = state.suspicions[version] ?? Suspicion()
            let pause = retry.indices.contains(suspicion.refusals) ? retry[suspicion.refusals] : retry.last
            suspicion.refusals += 1
            suspicion.targets.removeAll { $0.hash == hash }
            if suspicion.targets.count >= Self.extentLimit { suspicion.targets.removeFirst() }
            suspicion.targets.append((hash, pause.map { now &+ $0 } ?? .max))
            state.suspicions[version] = suspicion
            return suspicion.refusals >= Self.refusalLimit && suspicion.targets.count > 1
        }
    }

    /// Until when the target is not answered with a version that it has refused unasked; nil: it may be.
    func endOfPause(of version: CredentialVersion, at target: Span<UInt8>, now: Int) -> Int? {
        let end = state.withLock { state -> Int? in
            guard !state.suspicions.isEmpty, let suspicion = state.suspicions[version] else { return nil }
            let hash = OpenedTargets.hash(target, version.fingerprint)
            return suspicion.targets.first { $0.hash == hash }?.end
        }
        return end.flatMap { now < $0 ? $0 : nil }
    }

    func endOfDoubt(about version: CredentialVersion, at target: Span<UInt8>, now: Int) -> Int? {
        guard let end = state.withLock({ $0.doubts[version]?.end }), now < end else { return nil }
        return opened.contains(target, for: version.fingerprint) ? nil : end
    }
}
