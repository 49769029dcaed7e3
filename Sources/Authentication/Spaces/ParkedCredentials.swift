import Synchronization

/// The versions of credentials that were definitely refused, by space: nobody sends them again, so that one wrong
/// password does not lock an account. A changed value is another version and is not parked.
public final class ParkedCredentials: Sendable {
    public struct Entry: Sendable, Hashable {
        public let space: ProtectionSpace
        public let version: CredentialVersion
    }

    private let capacity: Int
    private let state = Mutex(State())

    private struct State {
        var entries: Set<Entry> = []
        var order: [Entry] = []
    }

    /// - Parameter capacity: beyond it the oldest refusal is forgotten.
    public init(capacity: Int = 4096) { self.capacity = max(1, capacity) }

    public func park(_ version: CredentialVersion, for space: ProtectionSpace) {
        let entry = Entry(space: space, version: version)
        state.withLock { state in
            guard state.entries.insert(entry).inserted else { return }
            if state.order.count >= capacity { state.entries.remove(state.order.removeFirst()) }
            state.order.append(entry)
        }
    }

    public func contains(_ version: CredentialVersion, for space: ProtectionSpace) -> Bool {
        state.withLock { $0.entries.contains(Entry(space: space, version: version)) }
    }

    /// Forgets the other versions of a credential, which nobody has any more.
    public func keepOnly(_ version: CredentialVersion) {
        remove { $0.version.name == version.name && $0.version != version }
    }

    /// Gives everything another chance: for an operator who unlocked an account.
    public func removeAll() {
        remove { _ in true }
    }

    /// In the order they were parked.
    public var entries: [Entry] { state.withLock { $0.order } }

    private func remove(where condition: (Entry) -> Bool) {
        state.withLock { state in
            state.order.removeAll(where: condition)
            state.entries = Set(state.order)
        }
    }
}
