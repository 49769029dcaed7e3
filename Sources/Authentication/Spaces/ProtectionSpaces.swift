import Bytes
import Model
import Synchronization

/// The common knowledge of all requests: which spaces accepted which credential, what is held against credentials, and who
/// is being challenged right now.
///
/// A request goes through it like this. With `known` and `KnownOrigin.space(covering:)` it finds the space of its
/// target, asks the rules which credential its client would get there, and takes the authenticator for exactly that
/// version. Without one it asks for admission to the origin, and, once a challenge has named the space, to the space:
/// of many requests one is challenged, the others wait for its verdict. Nothing here chooses a credential, so nobody
/// can be answered with another client's.
public final class ProtectionSpaces: Sendable {
    public let accounts: Accounts
    private let journal: (any SpaceJournal)?
    private let underWay = ChallengesUnderWay()
    private let origins: Mutex<Origins>
    private let changes = Atomic(0)

    private struct Origins {
        /// By hash of host, port, protocol and kind.
        var table: [UInt64: [KnownOrigin]] = [:]
        /// Oldest first.
        var order: [(hash: UInt64, known: KnownOrigin)] = []
        /// The one that was found last, which is most often looked for next.
        var latest: KnownOrigin?
        /// The bytes of all origins, as far as they were counted.
        var bytes = 0

        mutating func forget(at index: Int) {
            let gone = order.remove(at: index)
            if latest === gone.known { latest = nil }
            let others = table[gone.hash]?.filter { $0 !== gone.known } ?? []
            table[gone.hash] = others.isEmpty ? nil : others
            bytes -= gone.known.counted.load(ordering: .relaxed)
        }

        /// Counts the bytes that an origin takes.
        mutating func count(_ known: KnownOrigin, hash: UInt64, weight: Int) {
            guard table[hash]?.contains(where: { $0 === known }) == true else { return }
            bytes += weight - known.counted.exchange(weight, ordering: .relaxed)
        }

        /// The origin that takes most.
        var heaviest: Int? {
            order.indices.max { left, right in
                order[left].known.counted.load(ordering: .relaxed) < order[right].known.counted.load(ordering: .relaxed)
            }
        }
    }

    private let capacity: Int
    private let byteLimit: Int

    /// - Parameters:
    ///   - capacity: origins remembered; beyond it the oldest is forgotten, which costs a challenge.
    ///   - byteLimit: bytes that they take together, as an estimate; beyond it the origin that takes most is forgotten.
    ///   - journal: told of everything that is learned here and worth keeping.
    public init(
        capacity: Int = 4096, byteLimit: Int = 16 << 20, accounts: Accounts = Accounts(),
        journal: (any SpaceJournal)? = nil
    ) {
        self.capacity = max(1, capacity)
        self.byteLimit = byteLimit
        self.accounts = accounts
        self.journal = journal
        origins = Mutex(Origins())
    }

    /// Another number whenever there may be another answer to give unasked, or none, for whatever target.
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

    /// The authenticator for the answer to its challenge, from one that gave such answers before, anywhere in the space. Nil
    /// when the server now asks in a way that it cannot answer: a realm may change from one Digest algorithm to another.
    public func authenticator(for answer: Answer) -> (any Authenticator)? {
        let known = known(answer.space.origin)?.space(answer.space)?.authenticator(for: answer.credential.version)
        guard let challenge = answer.challenge else { return known }
        return known?.authenticator(for: challenge)
    }

    /// The counts of the Digest nonces that were named for the space.
    public func nonces(of space: ProtectionSpace) -> NonceCounts {
        remembered(space.origin).nonces(of: space.realm)
    }

    /// An answer was accepted: from now on it is given before it is asked for.
    ///
    /// - Parameter isLasting: whether processes to come have the credential as well.
    public func remember(_ authenticator: any Authenticator, for answer: Answer, isLasting: Bool = false) {
        guard answer.credential.persistence != .none else { return }
        let origin = remembered(answer.space.origin)
        let (space, isMoved) = origin.remembered(answer.space)
        // A token follows another all the time, which is no news of the space.
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

    /// A version was accepted in a space that has no authenticators: a client certificate.
    public func noteAccepted(_ version: CredentialVersion, for space: ProtectionSpace) {
        let origin = remembered(space.origin)
        let known = origin.remembered(space).known
        if known.accept(version) { tell(known) }
        weigh(origin)
    }

    /// An answer to this target was accepted that the space's authenticator gave already: the space reaches there too.
    public func extend(_ space: ProtectionSpace, to target: Span<UInt8>, isLasting: Bool = false) {
        guard let origin = known(space.origin), let known = origin.space(space) else { return }
        guard known.extend(to: space.isProxy ? .origin : .directory(of: target)) else { return }
        weigh(origin)
        noteChange()
        if isLasting { tell(known) }
    }

    /// The target does not belong to the space: asked with its answer it wanted another, or none.
    public func exclude(_ target: Span<UInt8>, from space: ProtectionSpace) {
        guard let origin = known(space.origin), origin.space(space)?.exclude(target) == true else { return }
        weigh(origin)
        noteChange()
    }

    /// Takes over what the journal holds, where others write too.
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

    /// To be called behind the change: what was found before it is not taken for what is found now.
    private func noteChange() { changes.add(1, ordering: .releasing) }

    /// An answer to that target was accepted: the target belongs to the space after all, should it have been excluded.
    public func readmit(_ target: Span<UInt8>, to space: ProtectionSpace) {
        if known(space.origin)?.space(space)?.readmit(target) == true { noteChange() }
    }

    private func tell(_ space: KnownSpace) { journal?.learned(space.learned) }

    /// How a request to an origin goes ahead that no known space and no authenticator serves.
    ///
    /// - Parameter version: the credential that the rules would give this client here; nil when that is not known yet.
    public func admit(to origin: Origin, target: Span<UInt8>, version: CredentialVersion?) -> Admission {
        if known(origin)?.isOpen(target) == true { return .proceed }
        return underWay.join(.origin(origin, version))
    }

    /// Ends the waits for news of this origin: a request beside the one that leads got a response.
    public func settle(_ origin: Origin, _ verdict: Verdict) {
        underWay.end(.origin(origin, nil), verdict)
    }

    /// How a request goes ahead that was challenged for a space and would answer with this version. Look for an
    /// authenticator again after the wait.
    public func admit(to space: ProtectionSpace, version: CredentialVersion) -> Admission {
        underWay.join(.space(space, version))
    }

    /// A response without a challenge to a request without an answer: the target's directory asks for none.
    public func markOpen(_ origin: Origin, target: Span<UInt8>) {
        remembered(origin).markOpen(target)
    }

    /// A challenge where there was none.
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
            // The oldest may have to go.
            defer { noteChange() }
            if origins.order.count >= capacity { origins.forget(at: 0) }
            let known = KnownOrigin(origin)
            origins.table[hash, default: []].append(known)
            origins.order.append((hash, known))
            return known
        }
    }

    /// Counts what the origin takes, of which something is new. Where all take too much, those that take most are forgotten.
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

/// The lasting facts of a space: where it reaches, and which credentials it has accepted. Nothing
/// in it is secret.
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

/// Keeps what is learned of spaces for other processes and for later ones. Its calls return at once; what they say may be
/// written a little later.
public protocol SpaceJournal: Sendable {
    /// All that is known of the space, of which something is new.
    func learned(_ space: LearnedSpace)
}

extension AuthenticationMethod {
    /// Whether the extent of a space is of use to the next process: a login belongs to its connection.
    var sharesExtents: Bool {
        switch self {
        case .basic, .digest, .bearer: true
        case .ntlm, .negotiate, .htmlForm, .clientCertificate, .serverTrust, .other, .default: false
        }
    }
}
