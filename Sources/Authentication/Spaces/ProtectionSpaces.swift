import Bytes
import Model
import Synchronization

/// The common knowledge of all requests: which spaces accepted which credential, which credentials are parked, and who
/// is being challenged right now.
///
/// A request goes through it like this. With `known` and `KnownOrigin.space(covering:)` it finds the space of its
/// target, asks the rules which credential its client would get there, and takes the authenticator for exactly that
/// version. Without one it asks for admission to the origin, and, once a challenge has named the space, to the space:
/// of many requests one is challenged, the others wait for its verdict. Nothing here chooses a credential, so nobody
/// can be answered with another client's.
public final class ProtectionSpaces: Sendable {
    public let parked: ParkedCredentials
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

        mutating func forgetOldest() {
            let oldest = order.removeFirst()
            if latest === oldest.known { latest = nil }
            let others = table[oldest.hash]?.filter { $0 !== oldest.known } ?? []
            table[oldest.hash] = others.isEmpty ? nil : others
        }
    }

    private let capacity: Int

    /// - Parameters:
    ///   - capacity: origins remembered; beyond it the oldest is forgotten, which costs a challenge.
    ///   - journal: told of everything that is learned here and worth keeping.
    public init(
        capacity: Int = 4096, parked: ParkedCredentials = ParkedCredentials(), journal: (any SpaceJournal)? = nil
    ) {
        self.capacity = max(1, capacity)
        self.parked = parked
        self.journal = journal
        origins = Mutex(Origins())
    }

    /// Another number whenever there may be another answer to give unasked, or none, for whatever target.
    public var generation: Int { changes.load(ordering: .acquiring) &+ parked.generation }

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

    /// An answer was accepted: from now on it is given before it is asked for.
    ///
    /// - Parameter isLasting: whether processes to come have the credential as well.
    /// - Returns: whether the credential was parked before.
    @discardableResult
    public func remember(_ authenticator: any Authenticator, for answer: Answer, isLasting: Bool = false) -> Bool {
        guard answer.credential.persistence != .none else { return false }
        let (space, isMoved) = remembered(answer.space.origin).remembered(answer.space)
        // A token follows another all the time, which is no news of the space.
        let isSuccessor = answer.credential.token != nil && space.hasAnswered(answer.credential.version.name)
        let addition = space.add(authenticator, for: answer.credential.version)
        let isNew = addition == .version && !isSuccessor
        let wasParked = parked.lift(answer.credential.version, for: answer.space)
        let isLarger = space.extend(to: authenticator.extent)
        if isMoved || isLarger || wasParked || addition != .none { noteChange() }
        if isLasting, isNew || isLarger { tell(space) }
        return wasParked
    }

    /// A version was accepted in a space that has no authenticators: a password of a SOCKS parent, or an FTP server.
    ///
    /// - Returns: whether the credential was parked before.
    @discardableResult
    public func noteAccepted(_ version: CredentialVersion, for space: ProtectionSpace) -> Bool {
        let known = remembered(space.origin).remembered(space).known
        let isNew = known.accept(version)
        let wasParked = parked.lift(version, for: space)
        if isNew { tell(known) }
        return wasParked
    }

    /// An answer to this target was accepted that the space's authenticator gave already: the space reaches there too.
    public func extend(_ space: ProtectionSpace, to target: Span<UInt8>, isLasting: Bool = false) {
        guard let known = known(space.origin)?.space(space) else { return }
        guard known.extend(to: space.isProxy ? .origin : .directory(of: target)) else { return }
        noteChange()
        if isLasting { tell(known) }
    }

    /// The target does not belong to the space: asked with its answer it wanted another, or none.
    public func exclude(_ target: Span<UInt8>, from space: ProtectionSpace) {
        if known(space.origin)?.space(space)?.exclude(target) == true { noteChange() }
    }

    /// Takes over what the journal holds, where others write too.
    public func adopt(_ learned: [LearnedSpace]) {
        for learned in learned {
            remembered(learned.space.origin).remembered(learned.space).known.adopt(learned)
        }
        noteChange()
    }

    /// To be called behind the change: what was found before it is not taken for what is found now.
    private func noteChange() { changes.add(1, ordering: .releasing) }

    /// An answer to that target was accepted, whoever asked for it.
    public func noteOpened(_ target: Span<UInt8>, to version: CredentialVersion, in space: ProtectionSpace) {
        guard let known = known(space.origin)?.space(space) else { return }
        known.opened.note(target, to: version.fingerprint)
        if known.readmit(target) { noteChange() }
    }

    private func tell(_ space: KnownSpace) { journal?.learned(space.learned) }

    /// An answer was refused. A version that was never accepted here is parked until its value is set anew. One that was
    /// accepted is parked where it had opened the target before, and tried again later: the server may be in trouble.
    /// Elsewhere the refusal may be about the target: some servers say `401` where they mean `403`.
    ///
    /// - Parameters:
    ///   - target: nil: the refusal was about no target of its own.
    ///   - retry: as `ParkedCredentials.park`.
    ///   - now: milliseconds since 1970.
    /// - Returns: how long the version is parked; nil: it is not.
    @discardableResult
    public func refuse(
        _ version: CredentialVersion, for space: ProtectionSpace, at target: Span<UInt8>? = nil, retry: [Int] = [],
        now: Int = 0
    ) -> ParkedCredentials.Term? {
        let known = known(space.origin)?.space(space)
        guard let known, known.hasAccepted(version) else { return parked.park(version, for: space, at: now) }
        var isOpened = true
        if let target { isOpened = known.opened.contains(target, for: version.fingerprint) }
        if isOpened || parked.contains(version, for: space) {
            known.withdraw(version)
            noteChange()
            return parked.park(version, for: space, retry: retry, at: now)
        }
        if known.doubt(version, retry: retry, at: now) {
            known.withdraw(version)
            noteChange()
        }
        return nil
    }

    /// Whether the last refusal of a version, which did not park it, was the first since it was accepted, or the one that
    /// raised doubt about it.
    public func isNewDoubt(about version: CredentialVersion, in space: ProtectionSpace) -> Bool {
        known(space.origin)?.space(space)?.isNewDoubt(about: version) ?? false
    }

    /// An answer was refused that a rule sends with every request, and that the server does not ask for: a `401` is all that
    /// it can say, of the version as of the target. One that was accepted before is judged as above. Any other is not sent
    /// to that target for a while, and once three answers were refused, at more than one target, to none.
    ///
    /// - Returns: as above.
    public func refuseUnasked(
        _ version: CredentialVersion, for space: ProtectionSpace, at target: Span<UInt8>, retry: [Int], now: Int
    ) -> ParkedCredentials.Term? {
        let known = remembered(space.origin).remembered(space).known
        if known.hasAccepted(version) { return refuse(version, for: space, at: target, retry: retry, now: now) }
        guard known.suspect(version, at: target, retry: retry, at: now) || parked.contains(version, for: space) else {
            return nil
        }
        // The first tries are over.
        return parked.park(version, for: space, retry: Array(retry.suffix(1)), at: now)
    }

    /// Until when a version is not sent to a target that it has not opened, where it was refused at several of those in a
    /// row; `Int.max`: until it is accepted elsewhere. Nil: it may be sent.
    ///
    /// - Parameter now: milliseconds since 1970, as the result.
    public func endOfDoubt(
        about version: CredentialVersion, in space: ProtectionSpace, at target: Span<UInt8>, now: Int
    ) -> Int? {
        guard let known = known(space.origin)?.space(space) else { return nil }
        return known.endOfDoubt(about: version, at: target, now: now)
            ?? known.endOfPause(of: version, at: target, now: now)
    }

    /// A credential has a new value: the parked versions before it are forgotten. Authenticators with them are found no
    /// more, and goes when the new one is accepted.
    public func replace(with version: CredentialVersion) {
        parked.keepOnly(version)
    }

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

    /// Whether this version was accepted in the space before, here or elsewhere, and not refused since.
    public func hasAccepted(_ version: CredentialVersion, in space: ProtectionSpace) -> Bool {
        guard let known = known(space.origin)?.space(space) else { return false }
        return known.hasAccepted(version) && !known.hasWithdrawn(version)
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
            if origins.order.count >= capacity { origins.forgetOldest() }
            let known = KnownOrigin(origin)
            origins.table[hash, default: []].append(known)
            origins.order.append((hash, known))
            return known
        }
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
