import Synchronization

/// The name of the credential whose certificate an origin has seen, once it has: perhaps long after the handshake.
public final class ShownIdentity: Sendable {
    private let shown = Mutex<String?>(nil)

    public var name: String? {
        get { shown.withLock { $0 } }
        set { shown.withLock { $0 = newValue } }
    }
}
