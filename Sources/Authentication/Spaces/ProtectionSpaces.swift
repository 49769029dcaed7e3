import Bytes
import Model
import Synchronization

/// The shared knowledge of all requests: which spaces accepted which credential, which credentials are doubted, and
/// which challenges are in progress.
///
/// A request uses it as follows. With `known` and `KnownOrigin.space(covering:)` it finds the space of its target. It
/// asks the rules which credential its client would get there, and takes the authenticator for exactly that version.
/// Without one it asks for admission to the origin, and once a challenge has named the space, to the space. Of many
/// requests one is challenged, and the others wait for its verdict. This type chooses no credential, so no client gets
/// an answer with another client's credential.
public final class ProtectionSpaces: Sendable {
    /// Stores the facts about spaces for other and later processes. Its calls return at once; they may write a little
    /// later.
    public protocol Journal: Sendable {
        /// Stores all facts about the space after a change.
        func learned(_ space: ProtectionSpaces.LearnedSpace)
    }

    /// The lasting facts of a space: its extents, and the credentials that it has accepted. It contains no secret.
    public struct LearnedSpace: Sendable, Hashable {
        public let space: ProtectionSpace
        public let extents: [Extent]
        public let accepted: [CredentialVersion]

        public init(space: ProtectionSpace, extents: [Extent], accepted: [CredentialVersion]) {
            self.space = space
            self.extents = extents
            self.accepted = accepted
        }
    }

    public let accounts: Accounts
    private let journal: (any Journal)?
    private let underWay = SingleFlight()
    private let origins = Mutex(Origins())
    private let changes = Atomic(0)

    private struct Origins {
        /// The origins by hash of host, port, protocol and kind.
        var table: [UInt64: [KnownOrigin]] = [:]
        /// The origins, the oldest first.
        var order: [(hash: UInt64, known: KnownOrigin)] = []
        /// The origin found last, which is often searched next.
        var latest: KnownOrigin?
        /// The counted bytes of all origins.
        var bytes = 0

        mutating func forget(at index: Int) {
            let gone = order.remove(at: index)
            if latest === gone.known { latest = nil }
            let others = table[gone.hash]?.filter { $0 !== gone.known } ?? []
            table[gone.hash] = others.isEmpty ? nil : others
            bytes -= gone.known.counted.load(ordering: .relaxed)
        }

        /// Counts the size of an origin, in bytes.
        mutating func count(_ known: KnownOrigin, hash: UInt64, weight: Int) {
            guard table[hash]?.contains(where: { $0 === known }) == true else { return }
            bytes += weight - known.counted.exchange(weight, ordering: .relaxed)
        }

        /// The largest origin.
        var heaviest: Int? {
            order.indices.max { left, right in
                order[left].known.counted.load(ordering: .relaxed) < order[right].known.counted.load(ordering: .relaxed)
            }
        }
    }

    private let capacity: Int
    private let byteLimit: Int

    /// - Parameters:
    ///   - capacity: the limit of origins, beyond which the oldest is forgotten; that costs a challenge.
    ///   - byteLimit: the limit of their estimated size in bytes, beyond which the largest origin is forgotten.
    ///   - journal: gets the facts that are worth storing.
    public init(
        capacity: Int = 4096, byteLimit: Int = 16 << 20, accounts: Accounts = Accounts(),
        journal: (any Journal)? = nil
    ) {
        self.capacity = max(1, capacity)
        self.byteLimit = byteLimit
        self.accounts = accounts
        self.journal = journal
    }

    /// A number that changes whenever a preemptive answer may change for some target.
    public var generation: Int { changes.load(ordering: .acquiring) &+ accounts.generation }

    /// The known facts of an origin. Allocates nothing.
    ///
    /// - Parameter host: in any case, without brackets.
    public func known(
        host: Span<UInt8>, port: UInt16, protocol: NetworkProtocol, isProxy: Bool = false
    ) -> KnownOrigin? {
        origins.withLock { origins in
            if let latest = origins.latest,
                latest.origin.is(host: host, port: port, protocol: `protocol`, isProxy: isProxy)
            {
                return latest
            }
            guard let candidates = origins.table[Self.hash(host, port: port)] else { return nil }
            for known in candidates
            where known.origin.is(host: host, port: port, protocol: `protocol`, isProxy: isProxy) {
                origins.latest = known
                return known
            }
            return nil
        }
    }

    /// The authenticator for the answer to its challenge, made from one that gave such answers before, anywhere in the
    /// space. Nil if it cannot answer this challenge: a realm may change from one Digest algorithm to another.
    public func authenticator(for answer: Answer) -> (any Authenticator)? {
        let known = known(answer.space.origin)?.space(answer.space)?.authenticator(for: answer.credential.version)
        guard let challenge = answer.challenge else { return known }
        return known?.authenticator(for: challenge)
    }

    /// The counts of the Digest nonces that were named for the space.
    public func nonces(of space: ProtectionSpace) -> NonceCounts {
        remembered(space.origin).nonces(of: space.realm)
    }

    /// Remembers an accepted answer, so that it is given preemptively from now on.
    ///
    /// - Parameter isLasting: whether later processes have the credential too.
    public func remember(_ authenticator: any Authenticator, for answer: Answer, isLasting: Bool = false) {
        guard answer.credential.persistence != .none else { return }
        let origin = remembered(answer.space.origin)
        let (space, isMoved) = origin.remembered(answer.space)
        // Tokens are replaced regularly, which does not change the space.
        let isSuccessor = answer.credential.token != nil && space.hasAnswered(answer.credential.version.name)
        let addition = space.add(
            authenticator, for: answer.credential.version,
            weight: (answer.challenge?.byteCount ?? 0) + answer.credential.byteCount)
        let isNew = addition == .version && !isSuccessor
        let isLarger = space.extend(to: authenticator.extent)
        if isMoved || isLarger || addition != .none {
            weigh(origin)
            noteChange()
        }
        if isLasting, isNew || isLarger { tell(space) }
    }

    /// Notes that a version was accepted in a space without authenticators: for client certificates.
    public func noteAccepted(_ version: CredentialVersion, for space: ProtectionSpace) {
        let origin = remembered(space.origin)
        let known = origin.remembered(space).known
        if known.accept(version) { tell(known) }
        weigh(origin)
    }

    /// Extends the space to this target, since an answer that the space's authenticator gives was accepted there.
    public func extend(_ space: ProtectionSpace, to target: Span<UInt8>, isLasting: Bool = false) {
        guard let origin = known(space.origin), let known = origin.space(space) else { return }
        guard known.extend(to: space.isProxy ? .origin : .directory(of: target)) else { return }
        weigh(origin)
        noteChange()
        if isLasting { tell(known) }
    }

    /// Removes the target from the space: with the space's answer, the server asked for another one or for none.
    public func exclude(_ target: Span<UInt8>, from space: ProtectionSpace) {
        guard let origin = known(space.origin), origin.space(space)?.exclude(target) == true else { return }
        weigh(origin)
        noteChange()
    }

    /// Adopts the facts of a journal that other processes write too.
    public func adopt(_ learned: [LearnedSpace]) {
        for learned in learned {
            let origin = remembered(learned.space.origin)
            origin.remembered(learned.space).known.adopt(learned)
            weigh(origin)
            let server = learned.space.origin.serverName
            for version in learned.accepted {
                if learned.space.authenticationMethod == .negotiate {
                    accounts.noteTicket(of: version, at: server)
                } else {
                    accounts.noteAccepted(version, at: server)
                }
            }
        }
        noteChange()
    }

    /// Counts a change. Call it after the change, so that results from before it are not taken for current ones.
    private func noteChange() { changes.add(1, ordering: .releasing) }

    /// Restores the target to the space if it was excluded, since an answer was accepted there.
    public func readmit(_ target: Span<UInt8>, to space: ProtectionSpace) {
        if known(space.origin)?.space(space)?.readmit(target) == true { noteChange() }
    }

    private func tell(_ space: KnownSpace) { journal?.learned(space.learned) }

    /// The decision about a request to an origin without a known space and authenticator.
    ///
    /// - Parameter version: the credential that the rules give this client here; nil if that is not known yet.
    public func admit(to origin: Origin, target: Span<UInt8>, version: CredentialVersion?) -> Admission {
        if known(origin)?.isOpen(target) == true { return .proceed }
        return underWay.join(.origin(origin, version))
    }

    /// Ends the waits for this origin: a request beside the leader got a response.
    public func settle(_ origin: Origin, _ verdict: FlightLease.Verdict) {
        underWay.end(.origin(origin, nil), verdict)
    }

    /// The decision about a request that was challenged for a space and would answer with this version. After a wait,
    /// search for an authenticator again.
    public func admit(to space: ProtectionSpace, version: CredentialVersion) -> Admission {
        underWay.join(.space(space, version))
    }

    /// Notes a response without a challenge to a request without an answer: the target's directory is open.
    public func markOpen(_ origin: Origin, target: Span<UInt8>) {
        remembered(origin).markOpen(target)
    }

    /// Notes a challenge in a directory that was open.
    public func markProtected(_ origin: Origin, target: Span<UInt8>) {
        known(origin)?.markProtected(target)
    }

    private func known(_ origin: Origin) -> KnownOrigin? {
        known(
            host: origin.host.utf8Span.span, port: origin.port, protocol: origin.protocol, isProxy: origin.isProxy)
    }

    private func remembered(_ origin: Origin) -> KnownOrigin {
        origins.withLock { origins in
            if let latest = origins.latest, latest.origin == origin { return latest }
            let hash = Self.hash(origin.host.utf8Span.span, port: origin.port)
            if let known = origins.table[hash]?.first(where: { $0.origin == origin }) { return known }
            // The oldest origin may be forgotten.
            defer { noteChange() }
            if origins.order.count >= capacity { origins.forget(at: 0) }
            let known = KnownOrigin(origin)
            origins.table[hash, default: []].append(known)
            origins.order.append((hash, known))
            return known
        }
    }

    /// Counts the new size of an origin. If the total is too large, the largest origins are forgotten.
    private func weigh(_ known: KnownOrigin) {
        let (hash, weight) = (Self.hash(known.origin.host.utf8Span.span, port: known.origin.port), known.weight)
        let isAnyGone = origins.withLock { origins in
            origins.count(known, hash: hash, weight: weight)
            var isAnyGone = false
            while origins.bytes > byteLimit, let heaviest = origins.heaviest {
                origins.forget(at: heaviest)
                isAnyGone = true
            }
            return isAnyGone
        }
        if isAnyGone { noteChange() }
    }

    private static func hash(_ host: Span<UInt8>, port: UInt16) -> UInt64 {
        SpanHash.of(host, seed: UInt64(port))
    }
}

extension Origin {
    fileprivate func `is`(
        host: Span<UInt8>, port: UInt16, protocol: NetworkProtocol, isProxy: Bool
    ) -> Bool {
        self.port == port && self.protocol == `protocol` && self.isProxy == isProxy
            && self.host.utf8Span.span.equalsIgnoringCase(host)
    }
}
