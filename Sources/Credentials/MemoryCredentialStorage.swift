import Authentication
import Synchronization

/// A credential storage that lasts as long as the process.
public final class MemoryCredentialStorage: CredentialStorage {
    private let shelves = Mutex(CredentialShelves())
    private let listeners = ChangeListeners()

    public init() {}

    public func credentials(for space: ProtectionSpace) async throws(CredentialStorageError) -> [String: Credential] {
        shelves.withLock { $0.credentials(for: space) }
    }

    public func allCredentials() async throws(CredentialStorageError) -> [ProtectionSpace: [String: Credential]] {
        shelves.withLock { $0.all }
    }

    public func defaultCredential(for space: ProtectionSpace) async throws(CredentialStorageError) -> Credential? {
        shelves.withLock { $0.defaultCredential(for: space) }
    }

    public func set(_ credential: Credential, for space: ProtectionSpace) async throws(CredentialStorageError) {
        try put(credential, for: space, asDefault: false)
    }

    public func setDefault(
        _ credential: Credential, for space: ProtectionSpace
    ) async throws(CredentialStorageError) {
        try put(credential, for: space, asDefault: true)
    }

    public func remove(user: String, for space: ProtectionSpace) async throws(CredentialStorageError) {
        shelves.withLock { shelves in
            guard shelves.remove(user: user, for: space) else { return }
            listeners.tell(CredentialChange(.removed, space: space, user: user))
        }
    }

    public func changes() -> AsyncStream<CredentialChange> { listeners.stream() }

    private func put(
        _ credential: Credential, for space: ProtectionSpace, asDefault: Bool
    ) throws(CredentialStorageError) {
        guard let user = credential.user else { throw .noUser(credential: credential.version.name) }
        shelves.withLock { shelves in
            shelves.put(credential, of: user, for: space, asDefault: asDefault)
            listeners.tell(CredentialChange(asDefault ? .madeDefault : .set, space: space, user: user))
        }
    }
}
