/// The object that a task waits on: any event on any channel that names this wake-up ends the wait.
///
/// A task that serves a client holds one and lends it to each channel it uses, so that it can wait for the client and
/// the upstream at once. It remembers nothing but its end: try the call, and wait only after it said it would block.
public final class Wakeup {
    private var waiter: UnsafeContinuation<Void, Never>?
    /// Told of each event before the task is: the work beside it, on the same channels.
    public var companion: (any WakeupCompanion)?
    /// Told of an event that no task waits for.
    public var driver: (any WakeupCompanion)?
    /// The task is not to wait for anything any more. The channels that have this wake-up say so in `check`; whoever waits on
    /// the wake-up itself asks here.
    public private(set) var isCancelled = false

    public init() {}

    /// Suspends until the next event. The caller checks again what it waits for.
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

/// Goes on beside a task, from the events of the task's own channels.
public protocol WakeupCompanion: AnyObject {
    /// Something has happened on one of the channels. It must not wait.
    func wakeupSignalled()
}
