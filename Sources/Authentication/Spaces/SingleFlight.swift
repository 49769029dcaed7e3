import Synchronization

/// The challenges in progress, and the requests that wait for each. Decisions are made under the lock; waiters are
/// resumed after it.
final class SingleFlight: Sendable {
    /// The subject of a challenge that one request at a time may meet.
    enum Subject: Sendable, Hashable {
        /// The origin, before the realm is known, with the credential that the client would get, since clients differ.
        case origin(Origin, CredentialVersion?)
        case space(ProtectionSpace, CredentialVersion)
    }

    private struct Turn {
        /// The current leader. Only the latest one can hand over the lead.
        var leader: Int
        var waiters: [FlightWaiter] = []
        /// Whether a request has waited for the time limit, so that no other waits for this leader.
        var isOverdue = false
    }

    private struct State {
        var underWay: [Subject: Turn] = [:]
        var leaders = 0

        mutating func nextLeader() -> Int {
            leaders &+= 1
            return leaders
        }
    }

    private let state = Mutex(State())

    /// Makes the request the leader if the challenge has none; else it waits, unless the leader is overdue.
    func join(_ key: Subject) -> ProtectionSpaces.Admission {
        let (waiter, leader) = state.withLock { state -> (FlightWaiter?, Int?) in
            // The entry is not retained while its list grows, since it would be copied.
            guard let leader = state.underWay[key]?.leader else {
                let leader = state.nextLeader()
                state.underWay[key] = Turn(leader: leader)
                return (nil, leader)
            }
            if state.underWay[key]?.isOverdue == true { return (nil, nil) }
            let waiter = FlightWaiter(for: key, behind: leader, in: self)
            state.underWay[key]?.waiters.appendForgetting(waiter)
            return (waiter, nil)
        }
        if let waiter { return .wait(waiter) }
        return leader.map { .lead(FlightLease(key, leader: $0, in: self)) } ?? .overtake
    }

    /// Ends a challenge with a verdict, of the leader or of another request.
    func end(_ key: Subject, _ verdict: FlightLease.Verdict) {
        let waiting = state.withLock { $0.underWay.removeValue(forKey: key) }?.waiters ?? []
        for waiter in waiting { waiter.promise.keep(.settled(verdict)) }
    }

    /// Handles a leader without a verdict: the next waiting request becomes the leader.
    func abandon(_ key: Subject, leader: Int) {
        var former = leader
        while true {
            let next = state.withLock { state -> (waiter: FlightWaiter, leader: Int)? in
                guard state.underWay[key]?.leader == former else { return nil }
                let waiting = state.underWay[key]?.waiters.drop { $0.promise.isOver } ?? []
                guard let waiter = waiting.first else {
                    state.underWay[key] = nil
                    return nil
                }
                let leader = state.nextLeader()
                state.underWay[key] = Turn(leader: leader, waiters: Array(waiting.dropFirst()))
                return (waiter, leader)
            }
            guard let next else { return }
            let lease = FlightLease(key, leader: next.leader, in: self)
            if next.waiter.promise.keep(.lead(lease)) { return }
            lease.dissolve()
            former = next.leader
        }
    }

    /// Makes no further request wait for this leader. Those that already wait do so for their own time.
    func overtake(_ key: Subject, leader: Int) {
        state.withLock { state in
            if state.underWay[key]?.leader == leader { state.underWay[key]?.isOverdue = true }
        }
    }

    /// Returns a lease beside that of the former leader, whose verdict still counts; nil if another request already has
    /// it.
    func takeOver(_ key: Subject, from former: Int) -> FlightLease? {
        let leader = state.withLock { state -> Int? in
            guard state.underWay[key]?.leader == former else { return nil }
            let leader = state.nextLeader()
            state.underWay[key]?.leader = leader
            return leader
        }
        return leader.map { FlightLease(key, leader: $0, in: self) }
    }
}

extension [FlightWaiter] {
    /// Appends a waiter. Before the list grows, waiters that no longer wait are removed.
    mutating func appendForgetting(_ waiter: FlightWaiter) {
        if count == capacity { removeAll { $0.promise.isOver } }
        append(waiter)
    }
}

extension ProtectionSpaces {
    /// The decision about a request whose challenge is not known yet.
    public enum Admission: Sendable {
        /// Send the request as it is: no challenge was seen here.
        case proceed
        /// Send the request, and report the verdict to the others.
        case lead(FlightLease)
        /// Send the request, and report the verdict to the others: the one that asks takes too long.
        case overtake
        /// Wait for the verdict on another request, which is asking.
        case wait(FlightWaiter)
    }
}
