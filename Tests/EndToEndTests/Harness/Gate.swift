import Synchronization

/// Holds an origin's script until the test lets it go on.
final class Gate: Sendable {
    private let isOpen = Mutex(false)

    func open() { isOpen.withLock { $0 = true } }

    func wait() { _ = Wait.until(seconds: 30) { isOpen.withLock { $0 } } }
}
