import Bytes
import Synchronization

/// Tells the operator that clients were not served, or made room: at most one line a minute for each reason, with the
/// number of times since the last.
final class ShortageReport: Sendable {
    private struct Tally {
        var reportedAt: UInt64?
        var count = 0
    }

    private let tallies = Mutex<[Arrivals.Reason: Tally]>([:])
    private let report: @Sendable (String) -> Void

    /// Milliseconds between two lines.
    private static let interval: UInt64 = 60_000

    init(to report: @escaping @Sendable (String) -> Void) { self.report = report }

    /// - Parameter now: milliseconds on the loops' clock.
    func note(_ reason: Arrivals.Reason, of address: IPAddress, limits: ClientCount.Limits, at now: UInt64) {
        let count: Int? = tallies.withLock { tallies in
            var tally = tallies[reason] ?? Tally()
            defer { tallies[reason] = tally }
            tally.count += 1
            if let last = tally.reportedAt, now < last &+ Self.interval { return nil }
            tally.reportedAt = now
            defer { tally.count = 0 }
            return tally.count
        }
        guard let count else { return }
        let times = count > 1 ? " (\(count) times since the last report)" : ""
        report(Self.sentence(reason, of: address, limits) + times)
    }

    private static func sentence(
        _ reason: Arrivals.Reason, of address: IPAddress, _ limits: ClientCount.Limits
    ) -> String {
        let consequence = "idle connections are closed, and if there are none, new clients are refused"
        return switch reason {
        case .foreignAddress:
            "a client at \(address) was refused; to allow it, add: clients { allow \(address) }"
        case .clients: "the limit of \(limits.clients) clients is reached: \(consequence)"
        case .address:
            "\(address) has reached the limit of \(limits.perAddress) clients for each address: \(consequence)"
        }
    }
}
