import Synchronization

/// A gateway thread's word beyond its response: why there is none.
public final class GatewayOutcome: Sendable {
    private let stored = Mutex<Refusal?>(nil)

    public init() {}

    /// Nil as long as the server, and not the proxy, is the one to say no.
    public var refusal: Refusal? {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}
