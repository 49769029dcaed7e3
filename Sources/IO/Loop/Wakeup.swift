/// An object that a task waits on: an event on any channel with this wake-up ends the wait.
///
/// A task that serves a client has one and lends it to each channel it uses. So it can wait for the client and the
/// upstream at the same time. The wake-up stores nothing but its cancellation: try the call first, and wait only if it
/// would block.
public final class Wakeup {
    /// Work beside a task, driven by the events of the task's own channels.
    public protocol Companion: AnyObject {
        /// Handles an event on one of the channels. It must not wait.
        func wakeupSignalled()
    }

    private var waiter: UnsafeContinuation<Void, Never>?
    /// Gets each event before the task: the work beside it, on the same channels.
    public var companion: (any Companion)?
    /// Gets an event for which no task waits.
    public var driver: (any Companion)?
    /// Whether the task must not wait any longer. The channels with this wake-up report that in `check`; code that
    /// waits on the wake-up itself asks here.
    public private(set) var isCancelled = false

    public init() {}

    /// Suspends until the next event. The caller then checks its condition again.
    public func wait() async {
        if isCancelled { return }
        await withUnsafeContinuation { waiter = $0 }
    }

    public func signal() {
        companion?.wakeupSignalled()
        guard let waiting = waiter else {
            driver?.wakeupSignalled()
            return
        }
        waiter = nil
        waiting.resume()
    }

    /// Ends the wait, and all later ones.
    public func cancel() {
        isCancelled = true
        signal()
    }
}
