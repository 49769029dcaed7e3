import Synchronization

/// The right to be the one request that is challenged, while others wait for what comes of it.
///
/// It must be settled as soon as the verdict is known, which is at the response's head. Dropping it unsettled (the
/// request failed or was cancelled) makes the next one that waits the leader.
public final class Lease: Sendable {
    private let key: FlightKey
    private let flights: Flights
    private let isSettled = Atomic<Bool>(false)

    init(_ key: FlightKey, in flights: Flights) {
        self.key = key
        self.flights = flights
    }

    deinit {
        if !isSettled.load(ordering: .relaxed) { flights.abandon(key) }
    }

    /// Tells everyone who waits. Only the first verdict counts.
    public func settle(_ verdict: Verdict) {
        guard !isSettled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        flights.land(key, verdict)
    }

    /// For a lease that found no taker: the flight is over already.
    func dissolve() {
        isSettled.store(true, ordering: .relaxed)
    }
}
