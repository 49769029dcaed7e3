/// The bytes by which the windows of streams may grow, for all connections of a loop. A stream whose reader was fast and then
/// stops holds as much as its window, until it is gone. Content that waits behind the end of its exchange counts, too.
public final class WindowBudget {
    private var free: Int

    /// - Parameter limit: in bytes. Beyond it windows stay as they are.
    public init(limit: Int = 64 << 20) { free = limit }

    /// Takes at most `count` bytes.
    /// - Returns: the bytes that were free.
    func take(upTo count: Int) -> Int {
        let taken = min(count, free)
        free -= taken
        return taken
    }

    func give(_ count: Int) { free += count }
}
