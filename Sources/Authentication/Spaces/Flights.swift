import Synchronization

/// The challenges under way, and who waits for each. Decisions are made under the lock, waiters resumed after it.
final class Flights: Sendable {
    private let waiters = Mutex<[FlightKey: [Waiter]]>([:])

    /// Leads if nobody does, else waits.
    func join(_ key: FlightKey) -> Admission {
        let waiter = waiters.withLock { waiters -> Waiter? in
            guard waiters[key] != nil else {
                waiters[key] = []
                return nil
            }
            let waiter = Waiter()
            waiters[key]?.append(waiter)
            return waiter
        }
        return waiter.map { .wait($0) } ?? .lead(Lease(key, in: self))
    }

    /// The leader knows.
    func land(_ key: FlightKey, _ verdict: Verdict) {
        let waiting = waiters.withLock { $0.removeValue(forKey: key) } ?? []
        for waiter in waiting { _ = waiter.resolve(.settled(verdict)) }
    }

    /// The leader will never know: the next that still waits leads.
    func abandon(_ key: FlightKey) {
        while true {
            let next = waiters.withLock { waiters -> Waiter? in
                guard let waiting = waiters[key], !waiting.isEmpty else {
                    waiters[key] = nil
                    return nil
                }
                return waiters[key]?.removeFirst()
            }
            guard let next else { return }
            let lease = Lease(key, in: self)
            if next.resolve(.lead(lease)) { return }
            lease.dissolve()
        }
    }
}
