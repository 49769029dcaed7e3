import Authentication
import Bytes
import Model
import Rules
import Synchronization

/// The credentials that clients brought in URLs, or in answers of their own that a rule says to learn, each for its own
/// client's later requests. Its session ends when it was quiet for a while.
final class SessionCredentials: Sendable {
    private struct Session {
        var credentials: [ProtectionSpace: Credential] = [:]
        /// Milliseconds.
        var lastUse: Int
    }

    private let sessions = Mutex<[SessionClient: Session]>([:])
    private let capacity: Int

    private static let spaceLimit = 64

    /// - Parameter capacity: sessions; beyond it the one used least recently ends.
    public init(capacity: Int = 4096) { self.capacity = max(1, capacity) }

    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - limit: milliseconds that a session outlives without a request that asks for its credentials.
    /// - Returns: whether the session had another value there, or none.
    @discardableResult
    public func put(
        _ credential: Credential, for space: ProtectionSpace, of client: ClientIdentity, at now: Int, limit: Int
    ) -> Bool {
        let client = SessionClient(client)
        return sessions.withLock { sessions in
            if sessions[client] == nil { Self.makeRoom(in: &sessions, capacity, at: now, limit: limit) }
            var session = sessions[client] ?? Session(lastUse: now)
            if now - session.lastUse > limit { session.credentials = [:] }
            guard session.credentials[space] != nil || session.credentials.count < Self.spaceLimit else { return false }
            let former = session.credentials.updateValue(credential, forKey: space)
            session.lastUse = now
            sessions[client] = session
            return former?.version != credential.version
        }
    }

    /// As above.
    public func credential(for space: ProtectionSpace, of client: ClientIdentity, at now: Int, limit: Int)
        -> Credential?
    {
        let client = SessionClient(client)
        return sessions.withLock { sessions in
            guard let session = sessions[client] else { return nil }
            guard now - session.lastUse <= limit else {
                sessions[client] = nil
                return nil
            }
            sessions[client]?.lastUse = now
            return session.credentials[space]
        }
    }

    /// A version that was refused answers nothing any more.
    public func remove(_ version: CredentialVersion, for space: ProtectionSpace, of client: ClientIdentity) {
        let client = SessionClient(client)
        sessions.withLock { sessions in
            if sessions[client]?.credentials[space]?.version == version { sessions[client]?.credentials[space] = nil }
        }
    }

    private static func makeRoom(in sessions: inout [SessionClient: Session], _ capacity: Int, at now: Int, limit: Int)
    {
        guard sessions.count >= capacity else { return }
        sessions = sessions.filter { now - $0.value.lastUse <= limit }
        guard sessions.count >= capacity, let oldest = sessions.min(by: { $0.value.lastUse < $1.value.lastUse })
        else { return }
        sessions[oldest.key] = nil
    }
}

/// Whose session it is: a user that the proxy has authenticated, else whoever has the address.
public enum SessionClient: Sendable, Hashable {
    case user(ExactText)
    case address(IPAddress)

    public init(_ identity: ClientIdentity) {
        self = identity.user.map { .user(ExactText($0)) } ?? .address(identity.address)
    }
}
