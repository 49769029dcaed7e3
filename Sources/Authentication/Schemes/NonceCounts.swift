import Synchronization

/// The Digest nonces that a server has named for one realm, each with its count.
///
/// Some servers take each nonce once. Then a request sends an answer on a nonce that no other request has used. Requests that
/// have none wait in line: each new nonce that the server names is for the first of them, whichever response it came
/// with. The first goes out without an answer where no response brings a nonce, so that the server's challenge names one.
///
/// The count belongs to the nonce (RFC 7616 section 3.4). All credentials and requests that use the nonce share it.
/// A server may name a nonce again: to several requests, after a credential has changed, or as one of several servers behind
/// a name.
public final class NonceCounts: Sendable {
    /// The count of one nonce.
    final class Count: Sendable {
        private enum Proof: UInt8, AtomicRepresentable {
            case none
            /// The server named the nonce in a response that accepted an answer to another one.
            case announced
            /// The server has accepted an answer to the nonce.
            case accepted
        }

        let nonce: [UInt8]
        private let used = Atomic<UInt32>(0)
        /// The requests that may use the nonce; `max`: any number.
        private let limit: Atomic<UInt32>
        /// Whether it is for a request that has waited for it.
        private let isReserved = Atomic(false)
        private let proof = Atomic<Proof>(.none)

        init(_ nonce: [UInt8], servesOnce: Bool) {
            self.nonce = nonce
            limit = Atomic(servesOnce ? 1 : .max)
        }

        /// The next `nc`, never given twice; nil when the nonce is used up.
        func next() -> UInt32? {
            let limit = limit.load(ordering: .relaxed)
            if limit != .max { return next(within: limit) }
            let count = used.wrappingAdd(1, ordering: .relaxed).newValue
            if count == 0 {
                used.store(.max, ordering: .relaxed)
                return nil
            }
            return count
        }

        private func next(within limit: UInt32) -> UInt32? {
            if isReserved.load(ordering: .relaxed) { return nil }
            var count = used.load(ordering: .relaxed)
            while count < limit {
                let (isMine, latest) = used.compareExchange(expected: count, desired: count + 1, ordering: .relaxed)
                if isMine { return count + 1 }
                count = latest
            }
            return nil
        }

        /// The number of requests that may still use the nonce.
        var uses: AnswerUses {
            let limit = limit.load(ordering: .relaxed)
            if limit == .max { return .many }
            return used.load(ordering: .relaxed) < limit && !isReserved.load(ordering: .relaxed) ? .one : .none
        }

        func reserve(_ isReserved: Bool) { self.isReserved.store(isReserved, ordering: .relaxed) }

        func serve(once servesOnce: Bool) { limit.store(servesOnce ? 1 : .max, ordering: .relaxed) }

        /// One more request may use the nonce.
        func serveAnother() {
            let count = used.load(ordering: .relaxed)
            if uses == .none, count < .max { limit.store(count + 1, ordering: .relaxed) }
        }

        /// Whether the server has accepted an answer to the nonce.
        var isAccepted: Bool { proof.load(ordering: .relaxed) == .accepted }

        /// Whether the server is known to take the nonce, or to have taken it.
        var isProven: Bool { proof.load(ordering: .relaxed) != .none }

        func noteAccepted() {
            if proof.load(ordering: .relaxed) != .accepted { proof.store(.accepted, ordering: .relaxed) }
        }

        func noteAnnounced() {
            _ = proof.compareExchange(expected: .none, desired: .announced, ordering: .relaxed)
        }
    }

    /// A request that waits in line for a nonce. Dropping it leaves the line.
    public final class Seeker: Sendable {
        fileprivate struct State {
            var nonce: Count?
            var wakeUp: Promise<Void>?
        }

        fileprivate let state = Mutex(State())

        fileprivate init() {}

        deinit { state.withLock { $0.nonce.take() }?.reserve(false) }

        /// How to wait for a nonce, or for the time to go out without an answer.
        ///
        /// - Returns: nil where the nonce is there.
        public func wait() -> Promise<Void>? {
            state.withLock { state in
                if state.nonce != nil { return nil }
                let wakeUp = Promise<Void>()
                state.wakeUp = wakeUp
                return wakeUp
            }
        }

        /// The challenge with the nonce that is for this request; nil: no nonce has come yet.
        public func take(for challenge: HeaderChallenge) -> HeaderChallenge? {
            guard let nonce = state.withLock({ $0.nonce.take() }) else { return nil }
            nonce.reserve(false)
            return challenge.with(nonce: nonce.nonce)
        }

        fileprivate var hasNonce: Bool { state.withLock { $0.nonce != nil } }

        /// - Returns: what it waits with.
        fileprivate func give(_ nonce: Count) -> Promise<Void>? {
            nonce.reserve(true)
            return state.withLock { state in
                state.nonce = nonce
                return state.wakeUp.take()
            }
        }

        fileprivate func wake() { state.withLock { $0.wakeUp.take() }?.keep(()) }
    }

    private struct Place {
        weak var seeker: Seeker?
    }

    private struct State {
        var counts: [Count] = []
        /// The time at which a nonce that was to serve once was accepted again, in milliseconds since 1970.
        var reuse = 0
        /// Whether nonces were found to be used up after that: they serve a few requests.
        var servesFew = false
        var places: [Place] = []

        /// The requests in line. The first one gets the next nonce.
        mutating func line() -> [Seeker] {
            places.removeAll { $0.seeker == nil }
            return places.compactMap(\.seeker)
        }

        /// Forgets the oldest counts of long nonces, until there is room for another one.
        mutating func keepShort(besides nonce: [UInt8]) {
            var bytes = counts.reduce(nonce.count) { $0 + $1.nonce.count }
            while bytes > NonceCounts.byteLimit, let oldest = counts.first {
                bytes -= oldest.nonce.count
                counts.removeFirst()
            }
        }
    }

    private let state = Mutex(State())
    /// Milliseconds since 1970. Before that time each new nonce is for one request; 0: nonces are for many requests.
    private let end = Atomic<Int>(0)

    /// The most counts that are kept: more than requests are challenged at once.
    private static let limit = 64
    /// The bytes of the nonces whose counts are kept.
    fileprivate static let byteLimit = 65_536

    public init() {}

    /// The count of that nonce, which begins with 1 if the nonce is new.
    func count(of nonce: [UInt8]) -> Count {
        let (count, wakeUp) = state.withLock { state -> (Count, Promise<Void>?) in
            if let known = state.counts.last(where: { $0.nonce == nonce }) { return (known, nil) }
            if state.counts.count >= Self.limit { state.counts.removeFirst() }
            state.keepShort(besides: nonce)
            let count = Count(nonce, servesOnce: serveOnce)
            state.counts.append(count)
            return (count, serveOnce ? state.line().first { !$0.hasNonce }?.give(count) : nil)
        }
        wakeUp?.keep(())
        return count
    }

    /// Whether each nonce serves one request.
    public var serveOnce: Bool { end.load(ordering: .relaxed) > 0 }

    /// The server would not take a nonce that it had just named: for ten minutes each nonce serves one request.
    ///
    /// - Parameter now: milliseconds since 1970.
    public func noteUsedUp(at now: Int) {
        state.withLock { state in
            if state.reuse > 0 { state.servesFew = now - state.reuse < Self.period }
            serve(until: now + Self.period, &state)
        }
    }

    /// The server has accepted a nonce again: nonces serve many requests, unless that was tried before.
    ///
    /// - Parameter now: milliseconds since 1970.
    public func noteReuse(at now: Int) {
        state.withLock { state in
            if state.servesFew { return }
            state.reuse = now
            serve(until: 0, &state)
        }
    }

    /// Ends the ten minutes in time.
    ///
    /// - Parameter now: milliseconds since 1970.
    public func noteTime(_ now: Int) {
        let end = end.load(ordering: .relaxed)
        if end > 0, end <= now { state.withLock { serve(until: 0, &$0) } }
    }

    private func serve(until end: Int, _ state: inout State) {
        self.end.store(end, ordering: .relaxed)
        for count in state.counts { count.serve(once: end > 0) }
    }

    /// Milliseconds.
    private static let period = 600_000

    // MARK: - The line

    /// A request joins the line.
    public func seek() -> Seeker {
        let seeker = Seeker()
        state.withLock { $0.places.append(Place(seeker: seeker)) }
        return seeker
    }

    /// Whether that is the first in line that has no nonce.
    public func isFirst(_ seeker: Seeker) -> Bool {
        state.withLock { state in state.line().first { !$0.hasNonce } === seeker }
    }

    /// A request that had a nonce is done with it. Where it brought none for another, the first in line goes out for one.
    public func noteDone() {
        let line = state.withLock { $0.line() }
        if !line.contains(where: \.hasNonce) { line.first?.wake() }
    }

    /// Whether the server has accepted an answer to the challenge's nonce.
    public func hasAccepted(_ challenge: HeaderChallenge) -> Bool { known(challenge)?.isAccepted ?? false }

    /// One more request may use the challenge's nonce.
    public func allowReuse(_ challenge: HeaderChallenge) { known(challenge)?.serveAnother() }

    private func known(_ challenge: HeaderChallenge) -> Count? {
        guard let nonce = challenge["nonce"] else { return nil }
        return state.withLock { $0.counts.last { $0.nonce == nonce } }
    }
}

/// How many requests may still be sent with an authenticator's answer.
public enum AnswerUses: Sendable {
    case many
    /// The nonce serves one request, and no request has used it.
    case one
    /// The nonce serves one request, which has used it.
    case none
}
