import Bytes
import Synchronization

/// Observes clients' own answers to find out which of them a server has accepted. A `2xx` alone proves nothing: many
/// servers send it for any request, with or without an answer.
///
/// An answer is *proven* by two responses to one request (one method and path of one origin), in either order: a `401`
/// with the challenge of its space without the answer, or with another one, and a `2xx` with it. Clients that wait for
/// a challenge get the `401` first. Clients that send their password preemptively never do; theirs is proven by the
/// first request without it.
public final class LearningEvidence<Client: Hashable & Sendable>: Sendable {
    /// The parts of a request on which the server's verdict depends.
    public struct Request: Sendable, Hashable {
        let origin: Origin
        private let hash: UInt64

        /// - Parameter target: in origin-form; the query is ignored.
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
        /// The spaces of the challenges that a request got without an accepted answer.
        var challenged = Recent<Request, [ProtectionSpace]>()
        var unproven = Recent<Unproven, (credential: Credential, time: WallTime)>()
    }

    private let state = Mutex(State())
    private let capacity: Int

    /// - Parameter capacity: the limit of requests of either kind, beyond which the oldest are forgotten.
    public init(capacity: Int = 4096) { self.capacity = max(1, capacity) }

    /// Notes a `401` for these spaces.
    public func challenged(_ request: Request, for spaces: [ProtectionSpace]) {
        state.withLock { $0.challenged.put(spaces, for: request, capacity: capacity) }
    }

    /// Notes a `2xx` to a request with a client's own answer.
    ///
    /// - Returns: the spaces for which the answer is proven; empty: not yet.
    public func accepted(
        _ credential: Credential, of client: Client, to request: Request, at now: WallTime
    ) -> [ProtectionSpace] {
        state.withLock { state in
            if let spaces = state.challenged[request] { return spaces }
            state.unproven.put((credential, now), for: Unproven(client: client, request: request), capacity: capacity)
            return []
        }
    }

    /// Notes a `401` to a request with a client's own answer. If the answer is not proven yet, it was wrong.
    public func refused(_ credential: Credential, of client: Client, to request: Request) {
        let key = Unproven(client: client, request: request)
        state.withLock { state in
            if state.unproven[key]?.credential.password == credential.password { state.unproven[key] = nil }
        }
    }

    /// The client's answer that a `401` without it has just proven for the space. It is returned once.
    ///
    /// - Parameter limit: the time after which a response proves nothing.
    public func proven(
        for space: ProtectionSpace, by client: Client, to request: Request, at now: WallTime, limit: Milliseconds
    ) -> Credential? {
        let key = Unproven(client: client, request: request)
        return state.withLock { state in
            guard state.challenged[request]?.contains(space) == true, let seen = state.unproven[key] else { return nil }
            state.unproven[key] = nil
            return now - seen.time <= limit ? seen.credential : nil
        }
    }
}

/// The latest values, up to the capacity.
private struct Recent<Key: Hashable & Sendable, Value> {
    private var values: [Key: Value] = [:]
    /// The keys, the oldest first; some may be gone.
    private var order: [Key] = []

    subscript(key: Key) -> Value? {
        get { values[key] }
        set { values[key] = newValue }
    }

    mutating func put(_ value: Value, for key: Key, capacity: Int) {
        if values.updateValue(value, forKey: key) != nil { return }
        order.append(key)
        guard order.count > capacity else { return }
        // Removes half at once, so that a full table costs no more than a growing one.
        let gone = order.prefix((capacity + 1) / 2)
        for key in gone { values[key] = nil }
        order.removeFirst(gone.count)
    }
}
