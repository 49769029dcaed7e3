import Bytes
import IO
import Transport
import Upstream

/// Which of a loop's sessions make room for others: those that wait for their client's first request before those that
/// wait for another, and of each the one that has waited longest first.
///
/// Nothing is kept up while sessions come, go and serve. When somebody has to make room all are looked at once, and the
/// order found serves until it is used up: a session that has done something since is passed over.
struct RestingOrder {
    private struct Candidate {
        let number: Int
        let rest: ClientSession.Rest
    }

    /// The next to go stands last.
    private var candidates: [Candidate] = []
    private var lookedAt: UInt64 = 0
    private var lastNumber: UInt64 = 0

    /// Milliseconds between two looks at very many sessions.
    private static let interval: UInt64 = 50
    private static let few = 256

    /// A number that is higher each time: of sessions that wait for their clients, the lowest has waited longest.
    mutating func takeNumber() -> UInt64 {
        lastNumber &+= 1
        return lastNumber
    }

    /// The session that has to go next.
    /// - Parameters:
    ///   - isSilent: whether no request may have come on it; nil: either, silent ones first.
    ///   - network: as `IPAddress.clientNetwork`; nil: anybody's.
    mutating func next(
        among sessions: [Int: ClientSession], silent isSilent: Bool, in network: IPAddress?, at now: UInt64
    ) -> ClientSession? {
        if let session = known(among: sessions, silent: isSilent, in: network) { return session }
        guard sessions.count <= Self.few || now >= lookedAt &+ Self.interval else { return nil }
        lookedAt = now
        candidates = sessions.compactMap { number, session in
            session.rest.map { Candidate(number: number, rest: $0) }
        }
        candidates.sort { one, other in
            one.rest.isSilent == other.rest.isSilent ? one.rest.number > other.rest.number : other.rest.isSilent
        }
        return known(among: sessions, silent: isSilent, in: network)
    }

    private mutating func known(
        among sessions: [Int: ClientSession], silent isSilent: Bool, in network: IPAddress?
    ) -> ClientSession? {
        var index = candidates.count
        let end = network == nil ? 0 : max(0, index - Self.few)
        while index > end {
            index -= 1
            let candidate = candidates[index]
            // A request that is there and was not read yet is no silence.
            guard let session = sessions[candidate.number], session.rest == candidate.rest,
                !session.stream.socket.hasUnreadBytes
            else {
                if index == candidates.count - 1 { candidates.removeLast() }
                continue
            }
            if candidate.rest.isSilent != isSilent {
                // Behind the first idle one there is no silent one.
                if isSilent { return nil }
                continue
            }
            if network == nil || session.requester.address.clientNetwork == network { return session }
        }
        return nil
    }
}
