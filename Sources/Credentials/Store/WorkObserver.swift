/// The observer of work on many items, which are written together or not at all.
public protocol WorkObserver: Sendable {
    /// Called before each item, and after the last.
    ///
    /// - Returns: whether to continue; if not, nothing is written.
    func continues(after done: Int, of total: Int) -> Bool
}

/// An observer that does nothing.
struct Unobserved: WorkObserver {
    func continues(after done: Int, of total: Int) -> Bool { true }
}
