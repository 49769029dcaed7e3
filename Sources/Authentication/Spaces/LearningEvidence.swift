import Bytes
import Synchronization

/// Observations of clients' own answers, to tell which of them a server has accepted: a `2xx` alone says nothing, since
/// many servers answer whoever asks, whatever else they send.
///
/// An answer is *proven* by two responses to the same request, that is, to one method and path of one origin, in either
/// order: a `401` with the challenge of its space when it was not there, or another was, and a `2xx` when it was. Clients
/// that wait for a challenge see the `401` first; those that send their password unasked never do, and theirs is proven by
/// the first request without it.
public final class LearningEvidence<Client: Hashable & Sendable>: Sendable {
    /// A request as far as the server's verdict on an answer depends on it.
    public struct Request: Sendable, Hashable {
        let origin: Origin
        private let hash: UInt64

        /// - Parameter target: in origin form; what stands behind `?` is no part of it.
        public init(_ origin: Origin, method: Span<UInt8>, target: Span<UInt8>) {
            self.origin = origin
            let end = target.firstIndex(of: UInt8(ascii: "?")) ?? target.count
            hash = SpanHash.of(target.extracting(first: end), seed: SpanHash.of(method, seed: 0))
        }
    }

    private struct Unproven: Hashable {
        let client: Client
        let request: Request
    }

    private struct State {
        /// Of what the server said to the request without an answer that it accepts.
        var challenged = Recent<Request, [ProtectionSpace]>()
        var unproven = Recent<Unproven, (credential: Credential, time: Int)>()
    }

    private let state = Mutex(State())
    private let capacity: Int

    /// - Parameter capacity: requests of either kind; beyond it the oldest is forgotten.
    public init(capacity: Int = 4096) { self.capacity = max(1, capacity) }

    /// A `401` came, for these spaces.
    public func challenged(_ request: Request, for spaces: [ProtectionSpace]) {
        state.withLock { $0.challenged.put(spaces, for: request, capacity: capacity) }
    }

    /// A `2xx` came to a request with a client's own answer.
    ///
    /// - Parameter now: milliseconds since 1970.
    /// - Returns: the spaces that the answer is proven for; none: not yet.
    public func accepted(
        _ credential: Credential, of client: Client, to request: Request, at now: Int
    ) -> [ProtectionSpace] {
        state.withLock { state in
            if let spaces = state.challenged[request] { return spaces }
            state.unproven.put((credential, now), for: Unproven(client: client, request: request), capacity: capacity)
            return []
        }
    }

    /// A `401` came to a request with a client's own answer: what was not proven by now was a mistake.
    public func refused(_ credential: Credential, of client: Client, to request: Request) {
        let key = Unproven(client: client, request: request)
        state.withLock { state in
            if state.unproven[key]?.credential.password == credential.password { state.unproven[key] = nil }
        }
    }

    /// The client's answer to the request that a `401` without one has proven just now to be right for the
    /// space. It is given once.
    ///
    /// - Parameter limit: milliseconds after which nothing is proven any more.
    public func proven(
        for space: ProtectionSpace, by client: Client, to request: Request, at now: Int, limit: Int
    ) -> Credential? {
        let key = Unproven(client: client, request: request)
        return state.withLock { state in
            guard state.challenged[request]?.contains(space) == true, let seen = state.unproven[key] else { return nil }
            state.unproven[key] = nil
            return now - seen.time <= limit ? seen.credential : nil
        }
    }
}

/// The values that were put last, as many as there is room for.
private struct Recent<Key: Hashable & Sendable, Value> {
    private var values: [Key: Value] = [:]
    /// Oldest first; some may be gone.
    private var order: [Key] = []

    subscript(key: Key) -> Value? {
        get { values[key] }
        set { values[key] = newValue }
    }

    mutating func put(_ value: Value, for key: Key, capacity: Int) {
        if values.updateValue(value, forKey: key) != nil { return }
        order.append(key)
        guard order.count > capacity else { return }
        // Half at once, so that a full table costs no more than one that fills.
        let gone = order.prefix((capacity + 1) / 2)
        for key in gone { values[key] = nil }
        order.removeFirst(gone.count)
    }
}
