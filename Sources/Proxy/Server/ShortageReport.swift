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
        let times = count > 1 ? " (\(count) times since this was said last)" : ""
        report(Self.sentence(reason, of: address, limits) + times)
    }

    private static func sentence(
        _ reason: Arrivals.Reason, of address: IPAddress, _ limits: ClientCount.Limits
    ) -> String {
        let consequence = "connections that wait for their client make room, and where none does, new ones are refused"
        return switch reason {
        case .foreignAddress:
            "a client at \(address) was refused: 'allow \(address)' in 'clients' would let it in"
        case .clients: "the limit of \(limits.clients) clients is met: \(consequence)"
        case .address:
            "the limit of \(limits.perAddress) clients for each address is met by \(address): \(consequence)"
        }
    }
}
