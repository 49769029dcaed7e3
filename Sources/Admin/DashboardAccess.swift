import Bytes
import Crypto
import Synchronization

/// Who may see the dashboard and act on it: the tokens of links that were printed, and the sessions that they were given
/// for. Kept in memory only, as codes from which no secret is found.
public final class DashboardAccess: Sendable {
    /// Both are needed for everything. The cookie goes to every port of its host, the key to none but its own; the key can
    /// be read by scripts, the cookie cannot.
    struct Session: Sendable, Equatable {
        let cookie: String
        let key: String
    }

    /// How long a link is good.
    public static let tokenMinutes = 10
    /// How long a session lasts that nobody uses, and how long at most.
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
        /// By the code of each, its end.
        var tokens: [UInt128: ContinuousClock.Instant] = [:]
        /// By the code of the cookie.
        var sessions: [UInt128: Admitted] = [:]
    }

    private let state = Mutex(State())

    public init() {}

    /// A token for one session.
    ///
    /// - Returns: nil when the system gives no random bytes.
    public func makeToken(at now: ContinuousClock.Instant = .now) -> String? {
        guard let token = Self.secret() else { return nil }
        let end = now.advanced(by: .seconds(Self.tokenMinutes * 60))
        state.withLock { state in
            state.tokens = state.tokens.filter { $0.value > now }
            // Whoever prints one after the other wants the last.
            if state.tokens.count >= Self.tokenLimit, let oldest = state.tokens.min(by: { $0.value < $1.value }) {
                state.tokens[oldest.key] = nil
            }
            state.tokens[Self.code(of: token)] = end
        }
        return token
    }

    /// Takes a token, which is then none any more, for a session.
    ///
    /// - Returns: nil where it is none, or its time is over.
    func session(for token: String, at now: ContinuousClock.Instant = .now) -> Session? {
        let code = Self.code(of: token)
        let end = state.withLock { $0.tokens.removeValue(forKey: code) }
        guard let end, now < end else { return nil }
        return makeSession(at: now)
    }

    /// A session for somebody who has proved to be one of the administrators.
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

    /// Whether there is such a session, which is used by that.
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

    func end(_ session: Session) {
        let (cookie, key) = (Self.code(of: session.cookie), Self.code(of: session.key))
        state.withLock { state in
            if state.sessions[cookie]?.key == key { state.sessions[cookie] = nil }
        }
    }

    private static func secret() -> String? { (try? RandomBytes.make(24)).map(Hex.encode) }

    /// Looking a code up takes a time that tells nothing about the secret.
    private static func code(of secret: String) -> UInt128 {
        MessageDigest.digest(.sha256, of: secret.utf8Span.span).prefix128
    }
}
