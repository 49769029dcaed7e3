import CLinux

/// Returns free heap memory to the system after a peak.
///
/// Many handshakes at once need several times what the connections keep. `malloc` itself returns only what is free at the end
/// of a heap, behind what the connections keep. To be called at intervals, not on a loop.
public struct HeapTrim: Sendable {
    /// The number of bytes that were free after the latest trim, or fewer if they were used since.
    private var settled = 0
    /// The least amount that is worth a trim: in bytes, and as a divisor of the bytes in use.
    private static let (least, share) = (1 << 20, 8)

    public init() {}

    /// Trims the heaps if much more is free than after the latest trim.
    /// - Returns: whether it did.
    @discardableResult
    public mutating func run() -> Bool {
        var (used, free) = (0, 0)
        linux_measure_heaps(&used, &free)
        settled = min(settled, free)
        guard free - settled >= max(Self.least, used / Self.share) else { return false }
        linux_trim_heaps()
        settled = free
        return true
    }
}
