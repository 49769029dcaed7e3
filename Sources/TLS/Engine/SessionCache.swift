import COpenSSL
import Glibc
import Model
import Synchronization

/// The sessions that we may resume, by a key that says with whom and under which terms. Shared by all loops.
///
/// Holds at most `capacity` keys in two generations: when the young one is full it becomes the old one, and what was
/// not used since the last time goes. Each step takes constant time.
public final class SessionCache<Key: Hashable & Sendable>: Sendable {
    private struct Generations {
        var young: [Key: [StoredSession]] = [:]
        var old: [Key: [StoredSession]] = [:]
    }

    private let generations = Mutex(Generations())
    private let capacity: Int
    /// Seconds after which a decision about trust is not carried on, and is made anew.
    private let lifetime: Int
    /// Servers give two tickets with a connection; more are kept for connections that are opened side by side.
    private static var perKey: Int { 4 }

    public init(capacity: Int = 512, lifetime: Int = 3600) {
        self.capacity = max(2, capacity)
        self.lifetime = lifetime
    }

    public func slot(for key: Key) -> some SessionSlot { Slot(cache: self, key: key) }

    public func removeAll() { generations.withLock { $0 = Generations() } }

    private struct Slot: SessionSlot {
        let cache: SessionCache
        let key: Key

        func take() -> StoredSession? { cache.take(key) }
        func keep(_ session: StoredSession) { cache.keep(session, for: key) }
    }

    private func take(_ key: Key) -> StoredSession? {
        let now = time(nil)
        return generations.withLock { held in
            guard var sessions = held.young.removeValue(forKey: key) ?? held.old.removeValue(forKey: key) else {
                return nil
            }
            while let session = sessions.popLast() {
                guard session.isFresh, now - session.trust.decided < lifetime else { continue }
                if !session.isSingleUse { sessions.append(session) }
                if !sessions.isEmpty { file(sessions, for: key, in: &held) }
                return session
            }
            return nil
        }
    }

    private func keep(_ session: StoredSession, for key: Key) {
        generations.withLock { held in
            var sessions = held.young.removeValue(forKey: key) ?? held.old.removeValue(forKey: key) ?? []
            if !session.isSingleUse { sessions.removeAll() }
            if sessions.count == Self.perKey { sessions.removeFirst() }
            sessions.append(session)
            file(sessions, for: key, in: &held)
        }
    }

    private func file(_ sessions: [StoredSession], for key: Key, in held: inout Generations) {
        if held.young.count >= capacity / 2 {
            held.old = held.young
            held.young = [:]
        }
        held.young[key] = sessions
    }
}

/// Where the sessions of one kind of connection (this server, under this identity and this trust rule) are kept.
public protocol SessionSlot: Sendable {
    /// A session to resume, if there is one that has not expired. One of TLS 1.3 is given away but once (RFC 8446
    /// appendix C.4).
    func take() -> StoredSession?
    func keep(_ session: StoredSession)
}

/// A session of a client with a server, and the trust under which it was made.
public struct StoredSession: Sendable {
    let session: LibraryObject
    let trust: ServerTrust
    /// Whether it may be used but once.
    let isSingleUse: Bool
    /// Seconds since 1970.
    let expiry: Int

    /// - Parameter session: an `SSL_SESSION`, whose reference this takes over.
    init(takingOwnership session: OpaquePointer, trust: ServerTrust) {
        self.session = LibraryObject(takingOwnership: session, free: { SSL_SESSION_free($0) })
        self.trust = trust
        isSingleUse = SSL_SESSION_get_protocol_version(session) >= TLSVersion.v13.rawValue
        expiry = SSL_SESSION_get_time(session).addingSaturated(SSL_SESSION_get_timeout(session))
    }

    /// Whether a server may still accept it.
    var isFresh: Bool { SSL_SESSION_is_resumable(session.pointer) == 1 && time(nil) < expiry }
}

extension Int {
    fileprivate func addingSaturated(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

/// The answer that a server's chain got: good for this connection and those that resume it.
public struct ServerTrust: Sendable {
    /// The chain that the evaluation vouches for.
    public let chain: VerifiedChain
    /// The caller's own record of why, such as the rule that forgave a finding.
    public let decision: (any Sendable)?
    /// Seconds since 1970.
    let decided: Int

    public init(_ chain: VerifiedChain, decision: (any Sendable)? = nil) {
        self.chain = chain
        self.decision = decision
        decided = time(nil)
    }
}
