import Authentication
import Synchronization

/// Those who want to know of a storage's changes, each with a queue of its own.
final class ChangeListeners: Sendable {
    private let state = Mutex(State())
    private let told = Atomic(1)

    private struct State {
        var listeners: [Int: AsyncStream<CredentialChange>.Continuation] = [:]
        var next = 0
        var other: ChangeListeners?
    }

    /// Another number after each change; never 0.
    var generation: Int { told.load(ordering: .relaxed) }

    /// Every change from now on. Ends when the consumer stops.
    func stream() -> AsyncStream<CredentialChange> {
        let (stream, continuation) = AsyncStream.makeStream(of: CredentialChange.self)
        let number = state.withLock { state in
            defer { state.next += 1 }
            state.listeners[state.next] = continuation
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// From now on those of another storage, which answers from this one, hear of every change too.
    func pass(to other: ChangeListeners) { state.withLock { $0.other = other } }

    /// Queues the change for everyone. Called under the lock that orders the changes.
    func tell(_ change: CredentialChange) {
        told.add(1, ordering: .relaxed)
        state.withLock { state in
            for listener in state.listeners.values { listener.yield(change) }
            state.other?.tell(change)
        }
    }
}
