import Authentication
import Credentials
import Synchronization

/// The version of everything beside the rules that decides about TLS with servers: our certificates, and exceptions for
/// servers' keys. The number changes whenever one of them changes.
public final class TLSPolicyEpoch: Sendable {
    private let changes = Atomic(1)
    private let storage: StoredCredentials

    /// - Parameter storage: the store, which has certificates and exceptions beside those of the rule file.
    public init(stored storage: StoredCredentials) {
        self.storage = storage
    }

    /// The current number; never 0.
    public var number: Int { changes.load(ordering: .relaxed) }

    public func advance() { changes.add(1, ordering: .relaxed) }

    /// Whether a certificate is stored for the server.
    func holdsIdentity(for origin: Origin) -> Bool {
        !storage.credentials(for: ProtectionSpace(clientCertificateOf: origin)).isEmpty
    }

    /// Whether an exception is stored for the server.
    func holdsException(for origin: Origin) -> Bool {
        !storage.credentials(for: ProtectionSpace(trustOf: origin.host, port: origin.port)).isEmpty
    }
}
