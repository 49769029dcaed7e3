import Authentication
import Synchronization

/// A credential storage that lasts as long as the process.
public final class MemoryCredentialStorage: CredentialStorage {
    private let shelves = Mutex(CredentialShelves())
    private let generation = Atomic(1)
    private let listeners = ChangeListeners()

    public init() {}

    public func credentials(for space: ProtectionSpace) async throws(CredentialStorageError) -> [String: Credential] {
        shelves.withLock { $0.credentials(for: space) }
    }

    public func allCredentials() async throws(CredentialStorageError) -> [ProtectionSpace: [String: Credential]] {
        shelves.withLock { $0.all }
    }

    public func defaultCredential(for space: ProtectionSpace) -> Credential? {
        shelves.withLock { $0.defaultCredential(for: space) }
    }

    public func version(of user: String, for space: ProtectionSpace) -> CredentialVersion? {
        shelves.withLock { $0.credential(of: user, for: space)?.version }
    }

    public func serves(_ origin: Origin) -> Bool { shelves.withLock { $0.serves(origin) } }

    public var originGeneration: Int { generation.load(ordering: .relaxed) }

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
            generation.add(1, ordering: .relaxed)
            listeners.tell(CredentialChange(.removed, space: space, user: user))
        }
    }

    public func changes() -> AsyncStream<CredentialChange> { listeners.stream() }

    private func put(
        _ credential: Credential, for space: ProtectionSpace, asDefault: Bool
    ) throws(CredentialStorageError) {
        guard let user = credential.user, let password = credential.password else {
            throw .noUser(credential: credential.version.name)
        }
        // Set again is another value: whoever does so wants another try.
        let kept = Credential(
            name: space.credentialName(of: user), user: user, password: password, persistence: .permanent,
            fingerprint: .random(in: .min ... .max), principal: KerberosTickets(user, .password(password)))
        shelves.withLock { shelves in
            shelves.put(kept, of: user, for: space, asDefault: asDefault)
            generation.add(1, ordering: .relaxed)
            listeners.tell(CredentialChange(asDefault ? .madeDefault : .set, space: space, user: user))
        }
    }
}
