import Authentication
import Synchronization

/// A credential storage that lasts as long as the process.
public final class MemoryCredentialStorage: CredentialStorage {
    private let state = Mutex(State())

    private struct State {
        var spaces: [ProtectionSpace: Shelf] = [:]
        var listeners: [Int: AsyncStream<CredentialChange>.Continuation] = [:]
        var nextListener = 0

        func tell(_ change: CredentialChange) {
            for listener in listeners.values { listener.yield(change) }
        }
    }

    /// The credentials of one space.
    private struct Shelf {
        var credentials: [String: Credential] = [:]
        var defaultUser: String?
    }

    public init() {}

    public func credentials(for space: ProtectionSpace) async throws(CredentialStorageError) -> [String: Credential] {
        state.withLock { $0.spaces[space]?.credentials ?? [:] }
    }

    public func allCredentials() async throws(CredentialStorageError) -> [ProtectionSpace: [String: Credential]] {
        state.withLock { $0.spaces.mapValues(\.credentials) }
    }

    public func defaultCredential(for space: ProtectionSpace) async throws(CredentialStorageError) -> Credential? {
        state.withLock { state in
            guard let shelf = state.spaces[space], let user = shelf.defaultUser else { return nil }
            return shelf.credentials[user]
        }
    }

    public func set(_ credential: Credential, for space: ProtectionSpace) async throws(CredentialStorageError) {
        try put(credential, for: space, change: .set)
    }

    public func setDefault(
        _ credential: Credential, for space: ProtectionSpace
    ) async throws(CredentialStorageError) {
        try put(credential, for: space, change: .madeDefault)
    }

    public func remove(user: String, for space: ProtectionSpace) async throws(CredentialStorageError) {
        state.withLock { state in
            guard var shelf = state.spaces[space], shelf.credentials.removeValue(forKey: user) != nil else { return }
            if shelf.defaultUser == user { shelf.defaultUser = nil }
            state.spaces[space] = shelf.credentials.isEmpty ? nil : shelf
            state.tell(CredentialChange(.removed, space: space, user: user))
        }
    }

    public func changes() -> AsyncStream<CredentialChange> {
        let (stream, continuation) = AsyncStream.makeStream(of: CredentialChange.self)
        let listener = state.withLock { state in
            let listener = state.nextListener
            state.nextListener += 1
            state.listeners[listener] = continuation
            return listener
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: listener) }
        }
        return stream
    }

    /// Yielding under the lock keeps the changes in the order they were made; it only queues them.
    private func put(
        _ credential: Credential, for space: ProtectionSpace, change: CredentialChange.Kind
    ) throws(CredentialStorageError) {
        guard let user = credential.user else { throw .noUser(credential: credential.version.name) }
        state.withLock { state in
            state.spaces[space, default: Shelf()].credentials[user] = credential
            if change == .madeDefault { state.spaces[space]?.defaultUser = user }
            state.tell(CredentialChange(change, space: space, user: user))
        }
    }
}
