import Synchronization
import Telemetry

/// The room that all copies of bodies take up together, in the requests of every loop, beyond what each may keep in
/// memory. It outlives a reload.
public final class ReplaySpool: Sendable {
    private let used = Atomic(0)
    private let refused = Atomic(0)

    /// - Returns: whether there were so many bytes left below `total`; they are taken until they are given back.
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

    /// A body is not kept, since others have the room.
    func noteRefusal() { refused.add(1, ordering: .relaxed) }

    public var use: ReplayDiskUse {
        ReplayDiskUse(bytes: used.load(ordering: .relaxed), refused: refused.load(ordering: .relaxed))
    }
}
