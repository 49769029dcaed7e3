import Bytes
import IO
import Transport
import Upstream

/// The order in which a loop's sessions make room for others: first those that wait for their client's first request,
/// then the idle ones; within each kind the one that has waited longest.
///
/// There are no updates while sessions come, go and serve. When room is needed, all sessions are checked once. The
/// resulting order is used until it is exhausted; a session that has been active since is skipped.
struct IdleEviction {
    /// The sessions that can be closed to make room; the last one is closed next.
    private var candidates: [(number: Int, rest: ClientSession.Rest)] = []
    private var lookedAt = LoopInstant.zero
    private var lastNumber: UInt64 = 0

    /// The time between two checks of very many sessions.
    private static let interval: Milliseconds = 50
    private static let few = 256

    /// Returns a number that is higher each time: of the sessions that wait for their clients, the lowest has waited
    /// longest.
    mutating func takeNumber() -> UInt64 {
        lastNumber &+= 1
        return lastNumber
    }

    /// Returns the session to close next.
    /// - Parameters:
    ///   - isSilent: whether only sessions without a request qualify; nil for all, silent ones first.
    ///   - network: the network of the client, see `IPAddress.clientNetwork`; nil for any.
    mutating func next(
        among sessions: [Int: ClientSession], silent isSilent: Bool, in network: IPAddress?, at now: LoopInstant
    ) -> ClientSession? {
        if let session = known(among: sessions, silent: isSilent, in: network) { return session }
        guard sessions.count <= Self.few || now >= lookedAt + Self.interval else { return nil }
        lookedAt = now
        candidates = sessions.compactMap { number, session in
            session.rest.map { (number: number, rest: $0) }
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
            // A session with an unread request is not silent.
            guard let session = sessions[candidate.number], session.rest == candidate.rest,
                session.stream.socket?.hasUnreadBytes != true
            else {
                if index == candidates.count - 1 { candidates.removeLast() }
                continue
            }
            if candidate.rest.isSilent != isSilent {
                // No silent session comes after the first idle one.
                if isSilent { return nil }
                continue
            }
            if network == nil || session.downstream.address?.clientNetwork == network { return session }
        }
        return nil
    }
}
