import Synchronization
import TestSupport

/// Holds one thread until another lets it go on.
final class Gate: Sendable {
    private let state = Mutex(false)

    var isOpen: Bool { state.withLock { $0 } }

    func open() { state.withLock { $0 = true } }

    /// Waits until the gate is opened; false if it was not opened in time.
    @discardableResult
    func wait() -> Bool { Wait.until { isOpen } }
}
