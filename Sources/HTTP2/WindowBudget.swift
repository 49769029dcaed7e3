/// The bytes by which the windows of streams may grow, for all connections of a loop. A stream whose reader was fast and then
/// stops holds as much as its window, until it is gone.
public final class WindowBudget {
    private var free: Int

    /// - Parameter limit: in bytes. Beyond it windows stay as they are.
    public init(limit: Int = 64 << 20) { free = limit }

    /// - Returns: whether the bytes were free.
    func take(_ count: Int) -> Bool {
        guard count <= free else { return false }
        free -= count
        return true
    }

    func give(_ count: Int) { free += count }
}
