import Authentication
import Bytes
import Model
import Synchronization

/// A credential storage that lasts as long as the process.
public final class MemoryCredentialStorage: CredentialStorage {
    private let spaces = Mutex(CredentialsBySpace())
    private let generation = Atomic(1)
    let listeners = ChangeListeners()

    public init() {}

    public func credentials(for space: ProtectionSpace) -> [ExactText: Credential] {
        spaces.withLock { $0.credentials(for: space) }
    }

    public func allCredentials() async throws(CredentialStorageError) -> [ProtectionSpace: [ExactText: Credential]] {
        spaces.withLock { $0.all }
    }

    public func credentials(of kinds: Set<CredentialKind>) -> [ProtectionSpace: [ExactText: Credential]] {
        spaces.withLock { $0.all }.filter { kinds.contains($0.key.authenticationMethod.storedKind) }
    }

    public var ticketHolders: [ProtectionSpace: [ExactText: Credential]] {
        spaces.withLock { $0.all }.compactMapValues { credentials in
            let holders = credentials.filter { $0.value.principal?.ticketEnd != nil }
            return holders.isEmpty ? nil : holders
        }
    }

    public func defaultCredential(for space: ProtectionSpace) -> Credential? {
        spaces.withLock { $0.defaultCredential(for: space) }
    }

    public func version(of user: String, for space: ProtectionSpace) -> CredentialVersion? {
        spaces.withLock { $0.credential(of: user, for: space)?.version }
    }

    public func serves(_ origin: Origin) -> Bool { spaces.withLock { $0.serves(origin) } }

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
        spaces.withLock { spaces in
            guard spaces.remove(user: user, for: space) else { return }
            generation.add(1, ordering: .relaxed)
            listeners.tell(CredentialChange(.removed, space: space, user: user))
        }
    }

    public func changes() -> AsyncStream<CredentialChange> { listeners.stream() }

    private func put(
        _ credential: Credential, for space: ProtectionSpace, asDefault: Bool
    ) throws(CredentialStorageError) {
        guard let name = credential.storedName(for: space) else {
            throw .unkept(credential: credential.version.name)
        }
        // Set again is another value: whoever does so wants another try.
        let kept = Credential(
            content: credential.content, keptAs: name, for: space, fingerprint: .random(in: .min ... .max))
        spaces.withLock { spaces in
            spaces.put(kept, of: name, for: space, asDefault: asDefault)
            generation.add(1, ordering: .relaxed)
            listeners.tell(CredentialChange(asDefault ? .madeDefault : .set, space: space, user: name))
        }
    }
}

/// Credentials by protection space and user, one of each space the default: what every storage answers from.
private struct CredentialsBySpace: Sendable {
    /// The credentials of one space.
    private struct Held {
        var credentials: [ExactText: Credential] = [:]
        var defaultUser: ExactText?
    }

    private var spaces: [ProtectionSpace: Held] = [:]
    /// How many spaces of each have credentials.
    private var origins: [Origin: Int] = [:]

    func credentials(for space: ProtectionSpace) -> [ExactText: Credential] { spaces[space]?.credentials ?? [:] }

    var all: [ProtectionSpace: [ExactText: Credential]] { spaces.mapValues(\.credentials) }

    func credential(of user: String, for space: ProtectionSpace) -> Credential? {
        spaces[space]?.credentials[ExactText(user)]
    }

    func serves(_ origin: Origin) -> Bool { origins[origin] != nil }

    func defaultCredential(for space: ProtectionSpace) -> Credential? {
        guard let held = spaces[space], let user = held.defaultUser else { return nil }
        return held.credentials[user]
    }

    mutating func put(_ credential: Credential, of user: String, for space: ProtectionSpace, asDefault: Bool) {
        if spaces[space] == nil { origins[space.origin, default: 0] += 1 }
        spaces[space, default: Held()].credentials[ExactText(user)] = credential
        if asDefault { spaces[space]?.defaultUser = ExactText(user) }
    }

    /// Whether there was one.
    mutating func remove(user: String, for space: ProtectionSpace) -> Bool {
        guard var held = spaces[space], held.credentials.removeValue(forKey: ExactText(user)) != nil else {
            return false
        }
        if held.defaultUser == ExactText(user) { held.defaultUser = nil }
        spaces[space] = held
        if held.credentials.isEmpty {
            spaces[space] = nil
            let others = (origins[space.origin] ?? 1) - 1
            origins[space.origin] = others > 0 ? others : nil
        }
        return true
    }
}
