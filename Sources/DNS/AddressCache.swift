import Bytes

/// What names resolved to, for as long as their records say. Times are milliseconds on the loop's clock.
struct AddressCache {
    private struct Entry {
        let answer: Result<[IPAddress], ResolutionError>
        let expires: UInt64
    }

    private var entries: [String: Entry] = [:]

    private static let capacity = 4096
    /// Seconds. A TTL of 0 still serves the requests of one moment; a week-long one does not outlive a move.
    private static let lifetime = 1...300
    /// Seconds that a "does not exist" is believed.
    private static let negativeLifetime = 5

    func answer(for name: String, now: UInt64) -> Result<[IPAddress], ResolutionError>? {
        guard let entry = entries[name], entry.expires > now else { return nil }
        return entry.answer
    }

    mutating func store(_ addresses: [IPAddress], for name: String, seconds: Int, now: UInt64) {
        let seconds = min(max(seconds, Self.lifetime.lowerBound), Self.lifetime.upperBound)
        insert(Entry(answer: .success(addresses), expires: now + UInt64(seconds) * 1000), for: name, now: now)
    }

    /// Remembers a definite no. A missing answer is not remembered: the next request asks again.
    mutating func store(_ error: ResolutionError, for name: String, now: UInt64) {
        guard case .noSuchName = error else { return }
        let expires = now + UInt64(Self.negativeLifetime) * 1000
        insert(Entry(answer: .failure(error), expires: expires), for: name, now: now)
    }

    private mutating func insert(_ entry: Entry, for name: String, now: UInt64) {
        if entries.count >= Self.capacity {
            entries = entries.filter { $0.value.expires > now }
            if entries.count >= Self.capacity { entries.removeAll(keepingCapacity: true) }
        }
        entries[name] = entry
    }
}
