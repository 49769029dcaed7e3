import Glibc
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

    public func place(for key: Key) -> some SessionPlace { Place(cache: self, key: key) }

    public func removeAll() { generations.withLock { $0 = Generations() } }

    private struct Place: SessionPlace {
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
