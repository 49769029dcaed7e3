import COpenSSL
import Glibc
import Model
import Synchronization

/// The sessions that we may resume, by a key that says with whom and under which terms. Shared by all loops.
///
/// A session of TLS 1.3 serves one connection (RFC 8446 appendix C.4), so a key keeps as many as it had connections at once.
/// Servers choose how large a session is: all of them together take at most `byteLimit` bytes, those of one key a sixteenth of
/// that. There are two generations: when the young one is full it becomes the old one, and what was not used since the last
/// time goes. Each step takes constant time.
public final class SessionCache<Key: Hashable & Sendable>: Sendable {
    private struct Entry {
        /// The newest last.
        var sessions: [StoredSession] = []
        /// The most connections that were open at once.
        var peak = 0
        /// The size of `sessions`.
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
        /// The size of the young sessions.
        var youngBytes = 0
        /// The connections that are open now, of keys that have some.
        var open: [Key: Int] = [:]

        /// Takes the key's entry out of its generation.
        mutating func remove(_ key: Key) -> Entry? {
            guard let entry = young.removeValue(forKey: key) else { return old.removeValue(forKey: key) }
            youngBytes -= entry.bytes
            return entry
        }
    }

    private let generations = Mutex(Generations())
    private let capacity: Int
    private let byteLimit: Int
    /// Seconds after which a decision about trust is not carried on, and is made anew.
    private let lifetime: Int
    /// The sessions that a key may keep however few connections it had: servers give two tickets with a connection.
    private static var fewest: Int { 4 }

    /// - Parameters:
    ///   - capacity: how many keys there may be.
    ///   - byteLimit: how many bytes all sessions may take, as `StoredSession.size` estimates them.
    public init(capacity: Int = 512, byteLimit: Int = 4 << 20, lifetime: Int = 3600) {
        self.capacity = max(2, capacity)
        self.byteLimit = byteLimit
        self.lifetime = lifetime
    }

    /// The place of one connection's sessions. The connection counts as open for as long as it has the slot.
    public func slot(for key: Key) -> some SessionSlot { Slot(cache: self, key: key) }

    public func removeAll() {
        generations.withLock { held in
            held.young = [:]
            held.old = [:]
            held.youngBytes = 0
        }
    }

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
        let now = time(nil)
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
    /// About the bytes of memory that it takes: its ticket and the server's certificates, which a server makes as large as it
    /// likes, and what OpenSSL has for each session.
    let size: Int
    /// The bytes of the certificates that the server presented when the session began.
    let chainSize: Int

    /// - Parameters:
    ///   - session: an `SSL_SESSION`, whose reference this takes over.
    ///   - chainSize: the bytes of the certificates that the server presented when the session began.
    init(takingOwnership session: OpaquePointer, trust: ServerTrust, chainSize: Int) {
        self.session = LibraryObject(takingOwnership: session, free: { SSL_SESSION_free($0) })
        self.trust = trust
        isSingleUse = SSL_SESSION_get_protocol_version(session) >= TLSVersion.v13.rawValue
        expiry = SSL_SESSION_get_time(session).addingSaturated(SSL_SESSION_get_timeout(session))
        self.chainSize = chainSize
        var ticketSize = 0
        SSL_SESSION_get0_ticket(session, nil, &ticketSize)
        // OpenSSL has the certificates as they came, and parsed.
        size = Self.fixedSize + ticketSize + 2 * chainSize
    }

    private static let fixedSize = 1024

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
