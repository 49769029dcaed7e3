import Bytes
import Synchronization

/// The Digest nonces that a server has named for one realm, each with its count.
///
/// Some servers accept each nonce once. A request then answers with a nonce that no other request has used. Requests
/// without a nonce wait in line. Each new nonce of the server is for the first of them, independent of the response
/// that brought it. If no response brings one, the first request is sent without an answer, so that the server's
/// challenge names one.
///
/// The count belongs to the nonce (RFC 7616 section 3.4). All credentials and requests that use the nonce share it. A
/// server may name a nonce again: to several requests, after a credential has changed, or as one of several servers
/// with one name.
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
        /// The number of requests that may use the nonce; `max`: any number.
        private let limit: Atomic<UInt32>
        /// Whether the nonce is for a request that waited for it.
        private let isReserved = Atomic(false)
        private let proof = Atomic<Proof>(.none)

        init(_ nonce: [UInt8], servesOnce: Bool) {
            self.nonce = nonce
            limit = Atomic(servesOnce ? 1 : .max)
        }

        /// The next `nc`, never returned twice; nil if the nonce is used up.
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

        /// Allows one more request to use the nonce.
        func serveAnother() {
            let count = used.load(ordering: .relaxed)
            if uses == .none, count < .max { limit.store(count + 1, ordering: .relaxed) }
        }

        /// Whether the server has accepted an answer to the nonce.
        var isAccepted: Bool { proof.load(ordering: .relaxed) == .accepted }

        /// Whether the server is known to accept the nonce, or to have accepted it.
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

        /// The promise to wait on, for a nonce or for the time to send the request without an answer.
        ///
        /// - Returns: nil if the nonce is there.
        public func wait() -> Promise<Void>? {
            state.withLock { state in
                if state.nonce != nil { return nil }
                let wakeUp = Promise<Void>()
                state.wakeUp = wakeUp
                return wakeUp
            }
        }

        /// The challenge with the nonce for this request; nil: no nonce has arrived yet.
        public func take(for challenge: HeaderChallenge) -> HeaderChallenge? {
            guard let nonce = state.withLock({ $0.nonce.take() }) else { return nil }
            nonce.reserve(false)
            return challenge.with(nonce: nonce.nonce)
        }

        fileprivate var hasNonce: Bool { state.withLock { $0.nonce != nil } }

        /// - Returns: the promise that it waits on.
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
        /// The time at which a nonce for one use was accepted again.
        var reuse: WallTime = 0
        /// Whether nonces were used up after that, so that each serves a few requests.
        var servesFew = false
        var places: [Place] = []

        /// The requests in line. The first one gets the next nonce.
        mutating func line() -> [Seeker] {
            places.removeAll { $0.seeker == nil }
            return places.compactMap(\.seeker)
        }

        /// Forgets the oldest counts of long nonces until there is room for another one.
        mutating func keepShort(besides nonce: [UInt8]) {
            var bytes = counts.reduce(nonce.count) { $0 + $1.nonce.count }
            while bytes > NonceCounts.byteLimit, let oldest = counts.first {
                bytes -= oldest.nonce.count
                counts.removeFirst()
            }
        }
    }

    private let state = Mutex(State())
    /// The time until which each new nonce is for one request; 0: nonces serve many requests.
    private let end = Atomic<WallTime>(0)

    /// The limit of counts: more than there are simultaneously challenged requests.
    private static let limit = 64
    /// The limit of the nonces' size in bytes.
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

    /// Notes that the server refused a nonce that it had just named. For ten minutes each nonce serves one request.
    public func noteUsedUp(at now: WallTime) {
        state.withLock { state in
            if state.reuse > 0 { state.servesFew = now - state.reuse < Self.period }
            serve(until: now + Self.period, &state)
        }
    }

    /// Notes that the server accepted a nonce again. Nonces then serve many requests, unless that was tried before.
    public func noteReuse(at now: WallTime) {
        state.withLock { state in
            if state.servesFew { return }
            state.reuse = now
            serve(until: 0, &state)
        }
    }

    /// Ends the ten minutes when they are over.
    public func noteTime(_ now: WallTime) {
        let end = end.load(ordering: .relaxed)
        if end > 0, end <= now { state.withLock { serve(until: 0, &$0) } }
    }

    private func serve(until end: WallTime, _ state: inout State) {
        self.end.store(end, ordering: .relaxed)
        for count in state.counts { count.serve(once: end > 0) }
    }

    private static let period = Milliseconds.minutes(10)

    // MARK: - The line

    /// Adds a request to the line.
    public func seek() -> Seeker {
        let seeker = Seeker()
        state.withLock { $0.places.append(Place(seeker: seeker)) }
        return seeker
    }

    /// Whether it is the first in line without a nonce.
    public func isFirst(_ seeker: Seeker) -> Bool {
        state.withLock { state in state.line().first { !$0.hasNonce } === seeker }
    }

    /// The use of a nonce by one request. Dropping it means that the request has ended. If it brought no nonce for
    /// another one, the first in line is sent without an answer.
    public final class Use: Sendable {
        private let nonces: NonceCounts

        fileprivate init(of nonces: NonceCounts) { self.nonces = nonces }

        deinit { nonces.noteDone() }
    }

    /// Begins the use of a nonce.
    public func use() -> Use { Use(of: self) }

    private func noteDone() {
        let line = state.withLock { $0.line() }
        if !line.contains(where: \.hasNonce) { line.first?.wake() }
    }

    /// Whether the server has accepted an answer to the challenge's nonce.
    public func hasAccepted(_ challenge: HeaderChallenge) -> Bool { known(challenge)?.isAccepted ?? false }

    /// Allows one more request to use the challenge's nonce.
    public func allowReuse(_ challenge: HeaderChallenge) { known(challenge)?.serveAnother() }

    private func known(_ challenge: HeaderChallenge) -> Count? {
        guard let nonce = challenge["nonce"] else { return nil }
        return state.withLock { $0.counts.last { $0.nonce == nonce } }
    }
}

/// The number of requests that may still use an authenticator's answer.
public enum AnswerUses: Sendable {
    case many
    /// The nonce serves one request, and no request has used it.
    case one
    /// The nonce serves one request, which has used it.
    case none
}
