import Synchronization

/// The Digest nonces that a server has named for one realm, each with its count.
///
/// Some servers take each nonce once. Then a request sends an answer on a nonce that no other request has used, or goes out
/// without an answer, and the server's challenge names a nonce for it.
///
/// The count belongs to the nonce (RFC 7616 section 3.4), whatever credential answers and whichever requests share the nonce.
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
        private let servesOnce: Atomic<Bool>
        private let proof = Atomic<Proof>(.none)

        init(_ nonce: [UInt8], servesOnce: Bool) {
            self.nonce = nonce
            self.servesOnce = Atomic(servesOnce)
        }

        /// The next `nc`, never given twice; nil when the nonce is used up.
        func next() -> UInt32? {
            if servesOnce.load(ordering: .relaxed) {
                return used.compareExchange(expected: 0, desired: 1, ordering: .relaxed).exchanged ? 1 : nil
            }
            let count = used.wrappingAdd(1, ordering: .relaxed).newValue
            if count == 0 {
                used.store(.max, ordering: .relaxed)
                return nil
            }
            return count
        }

        /// The number of requests that may still use the nonce.
        var uses: AnswerUses {
            if !servesOnce.load(ordering: .relaxed) { return .many }
            return used.load(ordering: .relaxed) == 0 ? .one : .none
        }

        func serve(once servesOnce: Bool) { self.servesOnce.store(servesOnce, ordering: .relaxed) }

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

    private struct State {
        var counts: [Count] = []
        /// Of the request that goes out without an answer, for the next nonce.
        weak var seeker: Lease?
    }

    private let state = Mutex(State())
    /// Until when new nonces are for one request each, in milliseconds since 1970; 0: they are for many.
    private let end = Atomic<Int>(0)

    /// More than requests are challenged at once.
    private static let limit = 64

    public init() {}

    /// The count of that nonce, which begins with 1 if the nonce is new.
    func count(of nonce: [UInt8]) -> Count {
        state.withLock { state in
            if let known = state.counts.last(where: { $0.nonce == nonce }) { return known }
            if state.counts.count >= Self.limit { state.counts.removeFirst() }
            let count = Count(nonce, servesOnce: end.load(ordering: .relaxed) > 0)
            state.counts.append(count)
            return count
        }
    }

    /// Whether each nonce serves one request.
    public var serveOnce: Bool { end.load(ordering: .relaxed) > 0 }

    /// The server would not take a nonce that it had just named: for ten minutes each nonce serves one request.
    ///
    /// - Parameter now: milliseconds since 1970.
    public func noteUsedUp(at now: Int) { serve(until: now + Self.period) }

    /// The server has accepted a nonce for the second time: nonces serve many requests.
    public func noteReuse() { serve(until: 0) }

    /// Ends the ten minutes in time.
    ///
    /// - Parameter now: milliseconds since 1970.
    public func noteTime(_ now: Int) {
        let end = end.load(ordering: .relaxed)
        if end > 0, end <= now { serve(until: 0) }
    }

    private func serve(until end: Int) {
        state.withLock { state in
            self.end.store(end, ordering: .relaxed)
            for count in state.counts { count.serve(once: end > 0) }
        }
    }

    /// Milliseconds.
    private static let period = 600_000

    /// The request with that lease goes out without an answer. The next nonce that the server names is for it, whoever gets
    /// it first.
    public func seek(with lease: Lease) { state.withLock { $0.seeker = lease } }

    /// The request with that lease has a nonce.
    public func endSearch(with lease: Lease) {
        state.withLock { state in
            if state.seeker === lease { state.seeker = nil }
        }
    }

    /// Whether a new nonce is for a request that seeks one.
    public var isSought: Bool { state.withLock { $0.seeker != nil } }

    /// Whether the server has accepted an answer to the challenge's nonce.
    public func hasAccepted(_ challenge: HeaderChallenge) -> Bool { known(challenge)?.isAccepted ?? false }

    /// More requests may use the challenge's nonce.
    public func allowReuse(_ challenge: HeaderChallenge) { known(challenge)?.serve(once: false) }

    private func known(_ challenge: HeaderChallenge) -> Count? {
        guard let nonce = challenge["nonce"] else { return nil }
        return state.withLock { $0.counts.last { $0.nonce == nonce } }
    }
}

/// How many requests may still be sent with an authenticator's answer.
public enum AnswerUses: Sendable {
    case many
    /// Its nonce serves one request, and is that of the next.
    case one
    /// Another request has used its nonce.
    case none
}
