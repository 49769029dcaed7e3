import Synchronization

/// Holds one thread until another lets it go on.
final class Gate: Sendable {
    private let isOpen = Mutex(false)

    func open() { isOpen.withLock { $0 = true } }

    /// False if nobody opened it.
    @discardableResult
    func wait() -> Bool { Wait.until { isOpen.withLock { $0 } } }
}
