import Bytes
import COpenSSL
import Glibc
import Model
import Synchronization

/// The sessions that can be resumed, by a key that names the server and the terms. Shared by all loops.
///
/// A session of TLS 1.3 serves one connection (RFC 8446 appendix C.4). So a key keeps as many sessions as it had
/// connections at once. Servers choose how large a session is. All sessions together take at most `byteLimit` bytes,
/// those of one key a sixteenth of that. There are two generations: when the young one is full it becomes the old one,
/// and the sessions of the previous old one are removed unless they were used. Each step takes constant time.
public final class SessionCache<Key: Hashable & Sendable>: Sendable {
    private struct Entry {
        /// The sessions, the newest last.
        var sessions: [StoredSession] = []
        /// The most connections that were open at once.
        var peak = 0
        /// The size of `sessions`, in bytes.
        var bytes = 0

        mutating func takeNewest() -> StoredSession? {
            guard let session = sessions.popLast() else { return nil }
            bytes -= session.size
            return session
        }

        mutating func append(_ session: StoredSession) {
            sessions.append(session)
            bytes += session.size
        }

        mutating func dropOldest() { bytes -= sessions.removeFirst().size }
    }

    private struct Generations {
        var young: [Key: Entry] = [:]
        var old: [Key: Entry] = [:]
        /// The size of the young sessions, in bytes.
        var youngBytes = 0
        /// The number of open connections, by key.
        var open: [Key: Int] = [:]

        /// Removes the key's entry from its generation.
        mutating func remove(_ key: Key) -> Entry? {
            guard let entry = young.removeValue(forKey: key) else { return old.removeValue(forKey: key) }
            youngBytes -= entry.bytes
            return entry
        }
    }

    private let generations = Mutex(Generations())
    private let capacity: Int
    private let byteLimit: Int
    /// The time after which a session ends, so that trust is decided again.
    private let lifetime: Milliseconds
    /// The sessions that every key may keep. Servers send two tickets with a connection.
    private static var fewest: Int { 4 }

    /// - Parameters:
    ///   - capacity: the limit of keys.
    ///   - byteLimit: the limit of all sessions in bytes, as `StoredSession.size` estimates them.
    public init(capacity: Int = 512, byteLimit: Int = 4 << 20, lifetime: Milliseconds = .seconds(3600)) {
        self.capacity = max(2, capacity)
        self.byteLimit = byteLimit
        self.lifetime = lifetime
    }

    /// Creates the slot for one connection's sessions. The connection counts as open as long as the slot exists.
    public func slot(for key: Key) -> some SessionSlot { Slot(cache: self, key: key) }

    private final class Slot: SessionSlot {
        let cache: SessionCache
        let key: Key

        init(cache: SessionCache, key: Key) {
            (self.cache, self.key) = (cache, key)
            cache.generations.withLock { $0.open[key, default: 0] += 1 }
        }

        deinit {
            cache.generations.withLock { held in
                guard let count = held.open[key] else { return }
                held.open[key] = count > 1 ? count - 1 : nil
            }
        }

        func take() -> StoredSession? { cache.take(key) }
        func keep(_ session: StoredSession) { cache.keep(session, for: key) }
    }

    private func take(_ key: Key) -> StoredSession? {
        let now = WallTime(seconds: time(nil))
        return generations.withLock { held in
            guard var entry = held.remove(key) else { return nil }
            entry.peak = max(entry.peak, held.open[key] ?? 0)
            while let session = entry.takeNewest() {
                guard session.isFresh, now - session.trust.decided < lifetime else { continue }
                if !session.isSingleUse { entry.append(session) }
                file(entry, for: key, in: &held)
                return session
            }
            return nil
        }
    }

    private func keep(_ session: StoredSession, for key: Key) {
        let share = byteLimit / 16
        guard session.size <= share else { return }
        generations.withLock { held in
            var entry = held.remove(key) ?? Entry()
            entry.peak = max(entry.peak, held.open[key] ?? 0)
            if !session.isSingleUse { (entry.sessions, entry.bytes) = ([], 0) }
            entry.append(session)
            while entry.sessions.count > max(Self.fewest, entry.peak) || entry.bytes > share { entry.dropOldest() }
            file(entry, for: key, in: &held)
        }
    }

    private func file(_ entry: Entry, for key: Key, in held: inout Generations) {
        if held.young.count >= capacity / 2 || held.youngBytes + entry.bytes > byteLimit / 2 {
            held.old = held.young
            held.young = [:]
            held.youngBytes = 0
        }
        held.young[key] = entry
        held.youngBytes += entry.bytes
    }
}

/// The store for the sessions of one kind of connection: one server, one identity, one trust rule.
public protocol SessionSlot: Sendable {
    /// Takes a session that has not expired; nil if none. A session of TLS 1.3 is returned only once (RFC 8446 appendix
    /// C.4).
    func take() -> StoredSession?
    func keep(_ session: StoredSession)
}

/// A client's session with a server, and the trust decision of its first handshake.
public struct StoredSession: Sendable {
    let session: LibraryObject
    let trust: ServerTrust
    /// Whether the session may be used only once.
    let isSingleUse: Bool
    /// The time of expiry.
    let expiry: WallTime
    /// The estimated memory in bytes: the ticket and the server's certificates, whose size the server chooses, and
    /// OpenSSL's own data.
    let size: Int
    /// The size of the certificates that the server presented when the session began, in bytes.
    let chainSize: Int

    /// - Parameters:
    ///   - session: an `SSL_SESSION`, whose reference the new value takes over.
    ///   - chainSize: the size of the certificates that the server presented when the session began, in bytes.
    init(takingOwnership session: OpaquePointer, trust: ServerTrust, chainSize: Int) {
        self.session = LibraryObject(takingOwnership: session, free: { SSL_SESSION_free($0) })
        self.trust = trust
        isSingleUse = SSL_SESSION_get_protocol_version(session) >= TLSVersion.v13.rawValue
        expiry = WallTime(seconds: SSL_SESSION_get_time(session)) + .seconds(SSL_SESSION_get_timeout(session))
        self.chainSize = chainSize
        var ticketSize = 0
        SSL_SESSION_get0_ticket(session, nil, &ticketSize)
        // OpenSSL keeps the certificates both encoded and parsed.
        size = Self.fixedSize + ticketSize + 2 * chainSize
    }

    private static let fixedSize = 1024

    /// Whether a server may still accept the session.
    var isFresh: Bool { SSL_SESSION_is_resumable(session.pointer) == 1 && WallTime(seconds: time(nil)) < expiry }
}

/// The decision about a server's chain. It applies to this connection and to those that resume its session.
public struct ServerTrust: Sendable {
    /// The chain that the evaluation accepted.
    public let chain: VerifiedChain
    /// The caller's own record of the reason, such as the rule that forgave a problem.
    public let decision: (any Sendable)?
    /// The time of the decision.
    let decided: WallTime

    public init(_ chain: VerifiedChain, decision: (any Sendable)? = nil) {
        self.chain = chain
        self.decision = decision
        decided = WallTime(seconds: time(nil))
    }
}
