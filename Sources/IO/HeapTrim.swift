import CLinux

/// Returns free heap memory to the system after a peak.
///
/// Many handshakes at once need several times what the connections keep. `malloc` itself returns only what is free at the end
/// of a heap, behind what the connections keep. To be called at intervals, not on a loop.
public struct HeapTrim: Sendable {
    /// The number of bytes that were free after the latest trim, or fewer if they were used since.
    private var settled = 0
    /// The least number of bytes that is worth a trim.
    private static let least = 1 << 20
    private let share: Int

    /// - Parameter share: a trim is worth at least this part of the bytes in use: 8 is an eighth.
    public init(share: Int = 8) { self.share = max(1, share) }

    /// Trims the heaps if much more is free than after the latest trim.
    /// - Returns: whether it did.
    @discardableResult
    public mutating func run() -> Bool {
        var (used, free) = (0, 0)
        linux_measure_heaps(&used, &free)
        settled = min(settled, free)
        guard free - settled >= max(Self.least, used / share) else { return false }
        linux_trim_heaps()
        settled = free
        return true
    }
}
