import Synchronization

/// The reason why a gateway thread gave no response.
public final class GatewayOutcome: Sendable {
    private let stored = Mutex<Refusal?>(nil)

    public init() {}

    /// Nil if the server, and not the proxy, refused.
    public var refusal: Refusal? {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}
