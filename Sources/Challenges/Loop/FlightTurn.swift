import Authentication
import Bytes
import IO

/// The limit of a request's waiting for others before its first answer is sent: one time for all its waits. Belongs to
/// its loop.
public final class WaitingTime {
    public static let limit: Milliseconds = 1000
    /// The end of the waiting time on the loop's clock; nil if it has not begun.
    private var end: LoopInstant?

    public init() {}

    /// Returns the end of the waiting time on the loop's clock. The time begins with the first call.
    public func end(on loop: EventLoop) -> LoopInstant {
        let end = end ?? loop.now + Self.limit
        self.end = end
        return end
    }

    public func reset() { end = nil }
}

/// A request's turn in a single flight, among others that meet the same challenges: one of them is challenged and
/// judged, and the others wait for the verdict.
///
/// Dropping an unsettled lease lets the next waiting request proceed.
struct FlightTurn {
    /// Whether the request learns something new about its origin.
    private enum News {
        /// It does not: the space was known, or the others have been informed.
        case none
        /// The search for another request is over, with or without a wait.
        case sought
        /// Whether the target asks for a credential was unknown when the request was sent. With the lease, if others
        /// wait for it.
        case awaited(FlightLease?)
    }

    /// The rank among the requests with the same unproven version of a credential.
    private enum Rank {
        case none
        /// It leads, and is judged for all.
        case leads(FlightLease)
        /// The leading request failed or was too slow. With the lease, if this one leads now.
        case waitedInVain(FlightLease?)
    }

    private var news = News.none
    private var rank = Rank.none

    /// The right to lead; nil if another request has it, or none.
    var lease: FlightLease? {
        switch rank {
        case .none, .waitedInVain(nil): nil
        case .leads(let lease), .waitedInVain(let lease?): lease
        }
    }

    var hasWaitedInVain: Bool {
        if case .waitedInVain = rank { true } else { false }
    }

    /// Whether it was unknown, when the request was sent, if its target asks for a credential.
    var bringsNews: Bool {
        if case .awaited = news { true } else { false }
    }

    /// Proceeds as the first request at this origin, if no other is the first and this one has not asked before.
    /// - Returns: the waiter for that other request; nil if the request proceeds.
    mutating func seekNews(of origin: Origin, target: ByteBuffer, in spaces: ProtectionSpaces) -> FlightWaiter? {
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

    /// Handles the end of waiting for the first request to the origin.
    mutating func hearNews(_ outcome: FlightWaiter.Outcome) {
        switch outcome {
        case .settled: break
        case .lead(let lease): news = .awaited(lease)
        case .expired: news = .awaited(nil)
        }
    }

    /// Leads the requests with the same answer, if none leads yet.
    /// - Returns: the waiter for the leader's verdict; nil if the request proceeds.
    mutating func seekVerdict(on answer: Answer, in spaces: ProtectionSpaces) -> FlightWaiter? {
        switch spaces.admit(to: answer.space, version: answer.credential.version) {
        case .proceed, .overtake: return nil
        case .lead(let lease):
            lead(with: lease)
            return nil
        case .wait(let waiter): return waiter
        }
    }

    /// Handles the verdict on the leading request, or the end of the wait.
    /// - Returns: false if there was no verdict in time.
    mutating func hearVerdict(_ outcome: FlightWaiter.Outcome) -> Bool {
        switch outcome {
        case .lead(let lease): lead(with: lease)
        case .settled(let verdict): rank = verdict == .unanswered ? .waitedInVain(nil) : .none
        case .expired:
            rank = .waitedInVain(nil)
            return false
        }
        return true
    }

    private mutating func lead(with lease: FlightLease) {
        rank = hasWaitedInVain ? .waitedInVain(lease) : .leads(lease)
    }

    /// Gives up the lead without a verdict: the next waiting request finds out.
    mutating func passOn() {
        switch rank {
        case .none, .waitedInVain(nil): break
        case .leads: rank = .none
        case .waitedInVain: rank = .waitedInVain(nil)
        }
    }

    /// Tells all waiters the verdict. A cancelled request gives none; the next waiter becomes the leader.
    mutating func settle(
        _ verdict: FlightLease.Verdict, at origin: Origin, in spaces: ProtectionSpaces, isBrokenOff: Bool
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

/// The limits of a request's waiting for another one.
extension FlightWaiter {
    /// Waits for the result of the first request to an origin.
    ///
    /// - Parameter end: the time on the loop's clock at which the request is sent itself.
    public func news(until end: LoopInstant, on loop: EventLoop) async -> Outcome {
        let alarm = Alarm(on: loop) { self.overtake() }
        alarm.set(after: loop.now.time(until: end))
        defer { alarm.cancel() }
        return await outcome()
    }

    /// Waits for the verdict on an unproven version of a credential. For half of the time only the leader sends it.
    /// Then one of the waiters also sends it, because the server may be slow with the leader; the others wait for
    /// either.
    public func verdict(within limit: Milliseconds, on loop: EventLoop) async -> Outcome {
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
