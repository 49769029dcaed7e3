import Authentication
import Credentials
import Synchronization

/// The state of what servers' requests and certificates are answered with in TLS, beside the rules: certificates that could
/// be shown, and exceptions for servers' keys. Another number whenever one of them has changed.
public final class TLSAnswers: Sendable {
    private let changes = Atomic(1)
    private let storage: any CredentialStorage

    /// - Parameter storage: has more of them than the rule file.
    public init(stored storage: any CredentialStorage) {
        self.storage = storage
    }

    /// Never 0.
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
