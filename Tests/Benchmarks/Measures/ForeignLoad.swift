import Glibc

/// How busy others kept the machine during the timed runs: what says how far to trust a time.
final class ForeignLoad {
    private struct Moment {
        /// Nanoseconds in which any processor did anything.
        let busy: Int
        /// Nanoseconds of this process.
        let own: Int
        let clock: Int
    }

    private var start: Moment?
    private var foreign = 0
    private var elapsed = 0

    func begin() { start = Self.now() }

    /// - Parameter contestants: nanoseconds of CPU they took since `begin`.
    func end(contestants: Int) {
        guard let start, let end = Self.now() else { return }
        foreign += max(0, end.busy - start.busy - (end.own - start.own) - contestants)
        elapsed += end.clock - start.clock
    }

    /// The share of one processor; nil if nothing was measured.
    var share: Double? { elapsed > 0 ? Double(foreign) / Double(elapsed) : nil }

    private static func now() -> Moment? {
        guard let line = Workspace.text("/proc/stat")?.split(separator: "\n").first else { return nil }
        let ticks = line.split(separator: " ").dropFirst().compactMap { Int($0) }
        guard ticks.count >= 8 else { return nil }
        // user nice system idle iowait irq softirq steal: all but the two that are idle, in hundredths of a second.
        let busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7]
        return Moment(busy: busy * 10_000_000, own: read(CLOCK_PROCESS_CPUTIME_ID), clock: read(CLOCK_MONOTONIC))
    }

    private static func read(_ clock: clockid_t) -> Int {
        var time = timespec()
        clock_gettime(clock, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
