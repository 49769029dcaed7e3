/// What a task waits on: any event on any channel that names this wake-up.
///
/// A task that serves a client holds one and lends it to each channel it uses, so that it can wait for the client and
/// the upstream at once. It remembers nothing: try the call, and wait only after it said it would block.
public final class Wakeup {
    private var waiter: UnsafeContinuation<Void, Never>?

    public init() {}

    /// Suspends until the next event. The caller checks again what it waits for.
    public func wait() async {
        await withUnsafeContinuation { waiter = $0 }
    }

    public func signal() {
        guard let waiting = waiter else { return }
        waiter = nil
        waiting.resume()
    }
}
