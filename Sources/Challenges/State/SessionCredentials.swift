import Authentication
import Bytes
import IO
import Model
import Synchronization

/// The credentials that clients brought in URLs, or in their own answers that a rule learns, each for later requests of
/// the same client. A session ends when it was idle for a while.
final class SessionCredentials: Sendable {
    fileprivate struct Session {
        var credentials: [ProtectionSpace: Credential] = [:]
        /// The time of the last use.
        var lastUse: WallTime
        var bytes = 0
    }

    /// The limits of all sessions together: a peer makes a session with each of its addresses.
    struct Limits {
        var sessions = 4096
        var credentials = 16_384
        /// An estimate of the bytes of the credentials, with their tables.
        var bytes = 16 << 20
    }

    fileprivate struct State {
        var sessions: [SessionClient: Session] = [:]
        /// The sum over the sessions of each peer.
        var peers: [SessionClient: Int] = [:]
        var credentials = 0
        var bytes = 0
    }

    private let state = Mutex(State())
    private let limits: Limits

    private static let spaceLimit = 64

    /// - Parameter limits: beyond them, the peer whose sessions take most loses its least recently used ones first.
    init(limits: Limits = Limits()) { self.limits = limits }

    /// - Parameter limit: the time that a session lives without a request that needs its credentials.
    /// - Returns: whether the session had another value there, or none.
    @discardableResult
    func put(
        _ credential: Credential, for space: ProtectionSpace, of client: ClientIdentity, at now: WallTime,
        limit: Milliseconds
    ) -> Bool {
        let client = SessionClient(client)
        return state.withLock { state in
            if let session = state.sessions[client], now - session.lastUse > limit { state.end(client) }
            let former = state.sessions[client]?.credentials[space]
            guard former != nil || state.sessions[client]?.credentials.count ?? 0 < Self.spaceLimit else {
                return false
            }
            state.remove(space, of: client)
            state.makeRoom(for: Self.weight(of: credential, space), of: client, in: limits, at: now, limit: limit)
            state.insert(credential, for: space, of: client, at: now)
            return former?.version != credential.version
        }
    }

    /// The credential of the client's session for the space.
    ///
    /// - Parameter limit: the time that a session lives without a request that needs its credentials.
    func credential(for space: ProtectionSpace, of client: ClientIdentity, at now: WallTime, limit: Milliseconds)
        -> Credential?
    {
        let client = SessionClient(client)
        return state.withLock { state in
            guard let session = state.sessions[client] else { return nil }
            guard now - session.lastUse <= limit else {
                state.end(client)
                return nil
            }
            state.sessions[client]?.lastUse = now
            return session.credentials[space]
        }
    }

    /// Removes a version that was refused.
    func remove(_ version: CredentialVersion, for space: ProtectionSpace, of client: ClientIdentity) {
        let client = SessionClient(client)
        state.withLock { state in
            if state.sessions[client]?.credentials[space]?.version == version { state.remove(space, of: client) }
        }
    }

    fileprivate static func weight(of credential: Credential, _ space: ProtectionSpace) -> Int {
        512 + credential.byteCount + space.host.utf8.count + (space.realm?.utf8.count ?? 0)
    }

    /// The origins for which a session has a credential. The proxy may answer their challenges although no rule covers
    /// them.
    final class Origins: Sendable {
        private let origins = Mutex(LRUMap<Origin, Void>())
        private let changes = Atomic(1)
        private let capacity: Int

        /// - Parameter capacity: the limit of origins. Beyond it the oldest is forgotten; if no rule covers it, clients
        ///   get its challenges until one of them sends its credential again.
        init(capacity: Int = 16_384) { self.capacity = max(1, capacity) }

        /// A number that changes when the origins change; never 0.
        var generation: Int { changes.load(ordering: .relaxed) }

        var count: Int { origins.withLock { $0.count } }

        func contains(_ origin: Origin) -> Bool { origins.withLock { $0.contains(origin) } }

        func insert(_ new: some Sequence<Origin>) {
            let isOther = origins.withLock { origins in
                var isOther = false
                for origin in new {
                    if !origins.contains(origin) {
                        isOther = true
                        origins.makeRoom(below: capacity)
                    }
                    origins.put((), for: origin)
                }
                return isOther
            }
            if isOther { changes.add(1, ordering: .relaxed) }
        }
    }
}

extension SessionCredentials.State {
    fileprivate mutating func insert(
        _ credential: Credential, for space: ProtectionSpace, of client: SessionClient, at now: WallTime
    ) {
        let weight = SessionCredentials.weight(of: credential, space)
        var session = sessions.removeValue(forKey: client) ?? SessionCredentials.Session(lastUse: now)
        session.credentials[space] = credential
        session.lastUse = now
        session.bytes += weight
        sessions[client] = session
        peers[client.peer, default: 0] += weight
        credentials += 1
        bytes += weight
    }

    fileprivate mutating func remove(_ space: ProtectionSpace, of client: SessionClient) {
        guard let credential = sessions[client]?.credentials.removeValue(forKey: space) else { return }
        let weight = SessionCredentials.weight(of: credential, space)
        sessions[client]?.bytes -= weight
        credentials -= 1
        take(weight, from: client.peer)
    }

    fileprivate mutating func end(_ client: SessionClient) {
        guard let session = sessions.removeValue(forKey: client) else { return }
        credentials -= session.credentials.count
        take(session.bytes, from: client.peer)
    }

    private mutating func take(_ weight: Int, from peer: SessionClient) {
        bytes -= weight
        let rest = (peers[peer] ?? 0) - weight
        peers[peer] = rest > 0 ? rest : nil
    }

    fileprivate mutating func makeRoom(
        for weight: Int, of client: SessionClient, in limits: SessionCredentials.Limits, at now: WallTime,
        limit: Milliseconds
    ) {
        guard isFull(for: weight, of: client, limits) else { return }
        for (other, session) in sessions where now - session.lastUse > limit || session.credentials.isEmpty {
            end(other)
        }
        while isFull(for: weight, of: client, limits), let most = peers.values.max() {
            let oldest = sessions.filter { peers[$0.key.peer] == most }.min { $0.value.lastUse < $1.value.lastUse }
            guard let oldest else { return }
            end(oldest.key)
        }
    }

    private func isFull(for weight: Int, of client: SessionClient, _ limits: SessionCredentials.Limits) -> Bool {
        !sessions.isEmpty
            && (sessions[client] == nil && sessions.count >= limits.sessions || credentials >= limits.credentials
                || bytes + weight > limits.bytes)
    }
}

/// The owner of a session: the user that the proxy has authenticated, else the client's address.
public enum SessionClient: Sendable, Hashable {
    case user(ExactText)
    case address(IPAddress?)

    public init(_ identity: ClientIdentity) {
        self = identity.user.map { .user(ExactText($0)) } ?? .address(identity.address)
    }

    /// The peer that the session is counted for. A peer may use each address of an IPv6 /64 network.
    fileprivate var peer: SessionClient {
        switch self {
        case .user: self
        case .address(let address): .address(address?.unmapped.network)
        }
    }
}
