import Synchronization

/// The challenges under way, and who waits for each. Decisions are made under the lock, waiters resumed after it.
final class ChallengesUnderWay: Sendable {
    private struct Turn {
        /// Of those who led in turn only the latest can hand the lead over.
        var leader: Int
        var waiters: [Waiter] = []
        /// Somebody has waited as long as anybody is to: nobody else does.
        var isOverdue = false
    }

    private struct State {
        var underWay: [SharedChallenge: Turn] = [:]
        var leaders = 0

        mutating func nextLeader() -> Int {
            leaders &+= 1
            return leaders
        }
    }

    private let state = Mutex(State())

    /// Leads if nobody does, else waits, unless the leader is overdue.
    func join(_ key: SharedChallenge) -> Admission {
        let (waiter, leader) = state.withLock { state -> (Waiter?, Int?) in
            // Nothing holds the entry while its list grows, which would be copied.
            guard let leader = state.underWay[key]?.leader else {
                let leader = state.nextLeader()
                state.underWay[key] = Turn(leader: leader)
                return (nil, leader)
            }
            if state.underWay[key]?.isOverdue == true { return (nil, nil) }
            let waiter = Waiter(for: key, behind: leader, in: self)
            state.underWay[key]?.waiters.appendForgetting(waiter)
            return (waiter, nil)
        }
        if let waiter { return .wait(waiter) }
        return leader.map { .lead(Lease(key, leader: $0, in: self)) } ?? .overtake
    }

    /// Somebody knows, the leader or another.
    func end(_ key: SharedChallenge, _ verdict: Verdict) {
        let waiting = state.withLock { $0.underWay.removeValue(forKey: key) }?.waiters ?? []
        for waiter in waiting { _ = waiter.resolve(.settled(verdict)) }
    }

    /// The leader will never know: the next that still waits leads.
    func abandon(_ key: SharedChallenge, leader: Int) {
        var former = leader
        while true {
            let next = state.withLock { state -> (waiter: Waiter, leader: Int)? in
                guard state.underWay[key]?.leader == former else { return nil }
                let waiting = state.underWay[key]?.waiters.drop { $0.isOver } ?? []
                guard let waiter = waiting.first else {
                    state.underWay[key] = nil
                    return nil
                }
                let leader = state.nextLeader()
                state.underWay[key] = Turn(leader: leader, waiters: Array(waiting.dropFirst()))
                return (waiter, leader)
            }
            guard let next else { return }
            let lease = Lease(key, leader: next.leader, in: self)
            if next.waiter.resolve(.lead(lease)) { return }
            lease.dissolve()
            former = next.leader
        }
    }

    /// No other request begins to wait for this leader. Those that wait already do so to the end of their own time.
    func overtake(_ key: SharedChallenge, leader: Int) {
        state.withLock { state in
            if state.underWay[key]?.leader == leader { state.underWay[key]?.isOverdue = true }
        }
    }

    /// The lead beside the former leader, whose verdict counts as well; nil where another has it already.
    func takeOver(_ key: SharedChallenge, from former: Int) -> Lease? {
        let leader = state.withLock { state -> Int? in
            guard state.underWay[key]?.leader == former else { return nil }
            let leader = state.nextLeader()
            state.underWay[key]?.leader = leader
            return leader
        }
        return leader.map { Lease(key, leader: $0, in: self) }
    }
}

extension [Waiter] {
    /// Before the list grows, those who wait no longer leave it.
    mutating func appendForgetting(_ waiter: Waiter) {
        if count == capacity { removeAll { $0.isOver } }
        append(waiter)
    }
}

/// The subject of a challenge that one request at a time may meet.
enum SharedChallenge: Sendable, Hashable {
    /// Before the realm is known; with the credential that the client would get, since clients differ.
    case origin(Origin, CredentialVersion?)
    case space(ProtectionSpace, CredentialVersion)
}

/// How a request goes about what is not known yet.
public enum Admission: Sendable {
    /// Send it as it is: nothing here was seen to ask for a credential.
    case proceed
    /// Send it, and tell the others.
    case lead(Lease)
    /// Somebody else is asking, and for too long: send it, and tell the others.
    case overtake
    /// Somebody else is asking: await the outcome.
    case wait(Waiter)
}
