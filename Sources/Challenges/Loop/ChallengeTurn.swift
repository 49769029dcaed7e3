import Authentication
import Bytes
import IO

/// Until when a request may wait for others before any answer of it is out: one time for all that it meets on its way.
/// Belongs to its loop.
public final class WaitingTime {
    /// Milliseconds.
    public static let limit = 1000
    /// On the loop's clock; nil: it has not had to wait.
    private var end: UInt64?

    public init() {}

    /// On the loop's clock. The time begins with the first call.
    public func end(on loop: EventLoop) -> UInt64 {
        let end = end ?? loop.now &+ UInt64(Self.limit)
        self.end = end
        return end
    }

    public func reset() { end = nil }
}

/// A request's turn among others that meet the same challenges: of many, one is challenged and judged, and the others wait
/// for the verdict.
///
/// Dropping a lease unsettled lets the next request that waits go ahead.
struct ChallengeTurn {
    /// Whether the request brings news of its origin.
    private enum News {
        /// It does not: the space was known, or the news are told.
        case none
        /// Nobody had to be waited for, or somebody was.
        case sought
        /// Nobody knew, when it went out, whether its target asks for a credential. With the lease, if others wait for it.
        case awaited(Lease?)
    }

    /// Its rank among those that answer with the same version of a credential, which is not proven.
    private enum Rank {
        case none
        /// It is judged for all.
        case leads(Lease)
        /// The request that was judged for all came to no good end, or not in time. With the lease, if it leads now.
        case waitedInVain(Lease?)
    }

    private var news = News.none
    private var rank = Rank.none

    /// The right to be judged for all; nil where it is another's, or nobody's.
    var lease: Lease? {
        switch rank {
        case .none, .waitedInVain(nil): nil
        case .leads(let lease), .waitedInVain(let lease?): lease
        }
    }

    var hasWaitedInVain: Bool {
        if case .waitedInVain = rank { true } else { false }
    }

    /// Whether nobody knew, when the request went out, whether its target asks for a credential.
    var bringsNews: Bool {
        if case .awaited = news { true } else { false }
    }

    /// Goes ahead with news of this origin, where no other request is the first there and this one has not asked before.
    /// - Returns: how to wait for that other request; nil: the request goes ahead.
    mutating func seekNews(of origin: Origin, target: ByteBuffer, in spaces: ProtectionSpaces) -> Waiter? {
        guard case .none = news else { return nil }
        news = .sought
        switch spaces.admit(to: origin, target: target.readable, version: nil) {
        case .proceed: break
        case .overtake: news = .awaited(nil)
        case .lead(let lease): news = .awaited(lease)
        case .wait(let waiter): return waiter
        }
        return nil
    }

    /// The fate of the first request to the origin is known, or took too long.
    mutating func hearNews(_ outcome: Waiter.Outcome) {
        switch outcome {
        case .settled: break
        case .lead(let lease): news = .awaited(lease)
        case .expired: news = .awaited(nil)
        }
    }

    /// Becomes the one request that is judged for all who would answer so, if there is none.
    /// - Returns: how to wait for the verdict on that one; nil: the request goes ahead.
    mutating func seekVerdict(on answer: Answer, in spaces: ProtectionSpaces) -> Waiter? {
        switch spaces.admit(to: answer.space, version: answer.credential.version) {
        case .proceed, .overtake: return nil
        case .lead(let lease):
            lead(with: lease)
            return nil
        case .wait(let waiter): return waiter
        }
    }

    /// The verdict on the request that was judged for all is there, or took too long.
    /// - Returns: false when there was no verdict in time.
    mutating func hearVerdict(_ outcome: Waiter.Outcome) -> Bool {
        switch outcome {
        case .lead(let lease): lead(with: lease)
        case .settled(let verdict): rank = verdict == .unanswered ? .waitedInVain(nil) : .none
        case .expired:
            rank = .waitedInVain(nil)
            return false
        }
        return true
    }

    private mutating func lead(with lease: Lease) {
        rank = hasWaitedInVain ? .waitedInVain(lease) : .leads(lease)
    }

    /// Gives the lead up without a verdict: the next request that waits finds out.
    mutating func passOn() {
        switch rank {
        case .none, .waitedInVain(nil): break
        case .leads: rank = .none
        case .waitedInVain: rank = .waitedInVain(nil)
        }
    }

    /// Tells everybody who waits, unless the request is broken off, which is no verdict: then the next that waits leads.
    mutating func settle(
        _ verdict: Verdict, at origin: Origin, in spaces: ProtectionSpaces, isBrokenOff: Bool
    ) {
        if !isBrokenOff {
            if case .awaited(let lease) = news { lease?.settle(verdict) }
            lease?.settle(verdict)
            if case .awaited(nil) = news, verdict != .unanswered { spaces.settle(origin, verdict) }
        }
        news = .none
        passOn()
    }
}

/// How long one request waits for what another is told.
extension Waiter {
    /// The fate of the first request to an origin.
    ///
    /// - Parameter end: on the loop's clock. Then the request goes out itself.
    public func news(until end: UInt64, on loop: EventLoop) async -> Outcome {
        let alarm = Alarm(on: loop) { self.overtake() }
        alarm.set(after: end > loop.now ? Int(clamping: end &- loop.now) : 0)
        defer { alarm.cancel() }
        return await outcome()
    }

    /// The fate of a version of a credential that is not proven yet. For half of the time nobody else sends it; then one
    /// of those who wait does, since the server may be slow with that one request, and the others wait for either.
    ///
    /// - Parameter limit: milliseconds.
    public func verdict(within limit: Int, on loop: EventLoop) async -> Outcome {
        let turn = Alarm(on: loop) { self.takeOver() }
        let end = Alarm(on: loop) { self.expire() }
        turn.set(after: limit / 2)
        end.set(after: limit)
        defer {
            turn.cancel()
            end.cancel()
        }
        return await outcome()
    }
}
