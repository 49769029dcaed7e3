import Bytes
import Crypto
import Synchronization

/// The access to the dashboard: the tokens of printed links, and the sessions that were created from them. They are
/// kept in memory only, as hashes that reveal no secret.
public final class DashboardAccess: Sendable {
    /// Every request needs both secrets. The cookie is sent to every port of its host, the key only to its own. Scripts
    /// can read the key, but not the cookie.
    struct Session: Sendable, Equatable {
        let cookie: String
        let key: String
    }

    /// The lifetime of a link, in minutes.
    public static let tokenMinutes = 10
    /// The limit for an unused session; `longest` is the limit for every session.
    static let idle = Duration.seconds(30 * 60)
    static let longest = Duration.seconds(12 * 60 * 60)
    static let tokenLimit = 16
    static let sessionLimit = 64

    private struct Admitted {
        let key: UInt128
        let begin: ContinuousClock.Instant
        var lastUse: ContinuousClock.Instant

        func isOver(at now: ContinuousClock.Instant) -> Bool {
            now - lastUse >= DashboardAccess.idle || now - begin >= DashboardAccess.longest
        }
    }

    private struct State {
        /// The expiry of each token, by its hash.
        var tokens: [UInt128: ContinuousClock.Instant] = [:]
        /// The sessions, by the hash of the cookie.
        var sessions: [UInt128: Admitted] = [:]
    }

    private let state = Mutex(State())

    public init() {}

    /// Makes a token for one session.
    ///
    /// - Returns: nil if the system gives no random bytes.
    public func makeToken(at now: ContinuousClock.Instant = .now) -> String? {
        guard let token = Self.secret() else { return nil }
        let end = now.advanced(by: .seconds(Self.tokenMinutes * 60))
        state.withLock { state in
            state.tokens = state.tokens.filter { $0.value > now }
            // A user who prints several links needs the last one.
            if state.tokens.count >= Self.tokenLimit, let oldest = state.tokens.min(by: { $0.value < $1.value }) {
                state.tokens[oldest.key] = nil
            }
            state.tokens[Self.code(of: token)] = end
        }
        return token
    }

    /// Exchanges a token, which becomes invalid, for a session.
    ///
    /// - Returns: nil if the token is unknown or expired.
    func session(for token: String, at now: ContinuousClock.Instant = .now) -> Session? {
        let code = Self.code(of: token)
        let end = state.withLock { $0.tokens.removeValue(forKey: code) }
        guard let end, now < end else { return nil }
        return makeSession(at: now)
    }

    /// Creates a session for a user who has authenticated as an administrator.
    func makeSession(at now: ContinuousClock.Instant = .now) -> Session? {
        guard let cookie = Self.secret(), let key = Self.secret() else { return nil }
        state.withLock { state in
            state.sessions = state.sessions.filter { !$0.value.isOver(at: now) }
            if state.sessions.count >= Self.sessionLimit,
                let longestUnused = state.sessions.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                state.sessions[longestUnused.key] = nil
            }
            state.sessions[Self.code(of: cookie)] = Admitted(key: Self.code(of: key), begin: now, lastUse: now)
        }
        return Session(cookie: cookie, key: key)
    }

    /// Whether the session is valid; if so, notes its use.
    func admits(_ session: Session, at now: ContinuousClock.Instant = .now) -> Bool {
        let (cookie, key) = (Self.code(of: session.cookie), Self.code(of: session.key))
        return state.withLock { state in
            guard let known = state.sessions[cookie], known.key == key else { return false }
            guard !known.isOver(at: now) else {
                state.sessions[cookie] = nil
                return false
            }
            state.sessions[cookie]?.lastUse = now
            return true
        }
    }

    /// Whether any browser is logged in.
    func hasSession(at now: ContinuousClock.Instant = .now) -> Bool {
        state.withLock { $0.sessions.values.contains { !$0.isOver(at: now) } }
    }

    func end(_ session: Session) {
        let (cookie, key) = (Self.code(of: session.cookie), Self.code(of: session.key))
        state.withLock { state in
            if state.sessions[cookie]?.key == key { state.sessions[cookie] = nil }
        }
    }

    private static func secret() -> String? { (try? RandomBytes.make(24)).map(Hex.encode) }

    /// Hashes a secret. The time of looking up the hash reveals nothing about the secret.
    private static func code(of secret: String) -> UInt128 {
        MessageDigest.digest(.sha256, of: secret.utf8Span.span).prefix128
    }
}
