import Authentication
import Synchronization

/// The credential whose certificate a server has seen, once it has: perhaps long after the handshake.
public final class ShownIdentity: Sendable {
    private let shown = Mutex<Credential?>(nil)

    public var credential: Credential? {
        get { shown.withLock { $0 } }
        set { shown.withLock { $0 = newValue } }
    }

    public var name: String? { credential?.version.name }
}
