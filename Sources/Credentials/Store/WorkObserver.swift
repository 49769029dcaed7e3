/// The observer of work on many items, each of which is written only if all are.
public protocol WorkObserver: Sendable {
    /// Called before each item, and after the last.
    ///
    /// - Returns: whether the work goes on; if not, nothing of it is kept.
    func continues(after done: Int, of total: Int) -> Bool
}

/// Nobody looks on, and nobody stops it.
struct Unobserved: WorkObserver {
    func continues(after done: Int, of total: Int) -> Bool { true }
}
