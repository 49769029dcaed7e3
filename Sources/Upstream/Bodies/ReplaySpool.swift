import Synchronization
import Telemetry

/// The room that all copies of bodies share, over the requests of all loops, beyond what each copy may keep in memory.
/// It outlives a reload.
public final class ReplaySpool: Sendable {
    private let used = Atomic(0)
    private let refused = Atomic(0)

    /// Reserves bytes until they are given back.
    /// - Returns: whether so many bytes were left below `total`.
    public func take(_ count: Int, of total: Int) -> Bool {
        var current = used.load(ordering: .relaxed)
        while true {
            let (wanted, isTooMuch) = current.addingReportingOverflow(count)
            guard !isTooMuch, wanted <= total else { return false }
            let attempt = used.weakCompareExchange(expected: current, desired: wanted, ordering: .relaxed)
            if attempt.exchanged { return true }
            current = attempt.original
        }
    }

    public func give(_ count: Int) { used.subtract(count, ordering: .relaxed) }

    /// Counts a body that is not kept because other bodies use the room.
    func noteRefusal() { refused.add(1, ordering: .relaxed) }

    public var use: ReplayDiskUse {
        (used.load(ordering: .relaxed), refused.load(ordering: .relaxed))
    }
}
