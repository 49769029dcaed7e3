import Bytes
import Model
import Synchronization

/// HTML forms as a scheme: the page that a rule recognises is the challenge, and the cookies of a login are the answer.
public struct FormScheme: AuthenticationScheme {
    public let method = AuthenticationMethod.htmlForm

    public init() {}

    public func strength(of challenge: HeaderChallenge) -> Int? {
        challenge == .loginPage ? 0 : nil
    }

    public func authenticator(
        for challenge: HeaderChallenge, in space: ProtectionSpace, at target: Span<UInt8>, with credential: Credential
    ) throws(AuthenticationError) -> any Authenticator {
        guard credential.user != nil, credential.password != nil else { throw unsuitable(credential) }
        return SessionAuthenticator()
    }
}

extension HeaderChallenge {
    /// The challenge of a page that asks for a login. No header field can contain it, since its name is not a token.
    public static let loginPage = HeaderChallenge(scheme: "login page")
}

/// Answers with the cookies of a session at the server, for one credential. Separate requests begin a session. The
/// callers make them, one at a time for all.
public final class SessionAuthenticator: Authenticator {
    /// A target at which the server shows whether a session is valid.
    public enum Witness: Sendable, Equatable {
        /// A target that the session opened and that asked for a login before. With a valid session it asks for none.
        case formerly([UInt8])
        /// The target that the last login led to, which did not ask for another login. If it asks other clients for a
        /// login, the session is valid.
        case landing([UInt8])
    }

    /// The knowledge about a session.
    private enum Standing {
        /// The first session, which has not opened any target yet.
        case first
        /// A session that has not opened any target yet, after a former one that did.
        case renewed
        /// A session that has not opened any target yet, but that a witness confirmed.
        case trusted
        /// A session that opened a target which asked for a login before.
        case proven
    }

    private enum State {
        /// Awaits a login; becomes `open`. Responses to requests of the former session may still arrive.
        case closed(generation: UInt32, former: CookieJar?)
        /// Becomes `closed` when the server asks for a login despite the session.
        case open(generation: UInt32, Standing, CookieJar)
    }

    private let witness = Mutex<Witness?>(nil)
    /// The targets that asked for a login despite a valid session, by hash, with the time until which they begin no
    /// other login.
    private let barred = Mutex<[UInt64: WallTime]>([:])
    private static let barredLimit = 1024
    private static let barredTime = Milliseconds.seconds(30)
    private let state = Mutex(State.closed(generation: 0, former: nil))

    init() {}

    public var binding: AuthenticatorBinding { .session(self) }

    /// The whole origin: cookies name their own scope.
    public var extent: Extent { .origin }

    public func answers(_ challenge: HeaderChallenge) -> Bool { challenge == .loginPage }

    /// Whether requests can be answered; if not, a login is needed.
    public var isOpen: Bool {
        state.withLock { if case .open = $0 { true } else { false } }
    }

    /// Stores the cookies of a successful login.
    ///
    /// - Parameter landing: the target that the login led to.
    public func open(_ jar: CookieJar, landing: [UInt8]? = nil) {
        witness.withLock { witness in
            if case .formerly = witness { return }
            witness = landing.map { .landing($0) }
        }
        state.withLock { state in
            switch state {
            case .closed(let generation, let former):
                state = .open(generation: generation &+ 1, former == nil ? .first : .renewed, jar)
            case .open(let generation, _, _): state = .open(generation: generation &+ 1, .renewed, jar)
            }
        }
    }

    /// Appends the value of `Cookie`: the session's cookies for the target. Nil if no session is open.
    public func authorize(target: Span<UInt8>, at now: WallTime, into value: ByteBuffer) -> AuthorizationTicket? {
        state.withLock { state in
            guard case .open(let generation, _, let jar) = state else { return nil }
            jar.append(for: target, at: now, to: value)
            return AuthorizationTicket(generation: generation)
        }
    }

    /// Appends the cookies of a client's own `Cookie` field, without those with a name that the session sends there.
    public func append(client field: Span<UInt8>, target: Span<UInt8>, at now: WallTime, into value: ByteBuffer) {
        state.withLock { state in
            guard case .open(_, _, let jar) = state else { return }
            jar.append(client: field, besidesThoseFor: target, at: now, to: value)
        }
    }

    /// Whether a `Set-Cookie` field concerns a cookie of the session and so must not reach other clients. Without a
    /// session the former one counts.
    public func owns(_ field: Span<UInt8>) -> Bool {
        state.withLock { state in
            switch state {
            case .closed(_, let former): former?.owns(field) ?? false
            case .open(_, _, let jar): jar.owns(field)
            }
        }
    }

    /// Stores a cookie of the session that the server sets again.
    public func take(_ field: Span<UInt8>, at target: Span<UInt8>, ticket: AuthorizationTicket, now: WallTime) {
        state.withLock { state in
            guard case .open(let generation, let standing, var jar) = state, generation == ticket.generation,
                jar.owns(field)
            else { return }
            jar.take(field, at: target, now: now)
            state = .open(generation: generation, standing, jar)
        }
    }

    /// The witness to ask about a session that has opened no target yet and got a login page: either the session is
    /// invalid, or its user may not see that page. Nil if there is nothing to find out.
    public func doubt(ticket: AuthorizationTicket) -> (witness: Witness, jar: CookieJar)? {
        guard let witness = witness.withLock({ $0 }) else { return nil }
        return state.withLock { state in
            guard case .open(let generation, let standing, let jar) = state, generation == ticket.generation,
                standing == .first || standing == .renewed
            else { return nil }
            return (witness, jar)
        }
    }

    /// Notes that the witness confirmed the session.
    public func trust(ticket: AuthorizationTicket) {
        state.withLock { state in
            guard case .open(let generation, let standing, let jar) = state, generation == ticket.generation,
                standing == .first || standing == .renewed
            else { return }
            state = .open(generation: generation, .trusted, jar)
        }
    }

    /// Judges the challenges in the response to an answer; nil if none is for a login.
    ///
    /// A page that asks for a login despite a valid session is forbidden to its user, or is the login page itself.
    /// Each request for it would cost a login, so it begins one in 30 seconds at most.
    ///
    /// - Parameter wasAsked: whether this request got such a challenge before.
    public func refused(
        by challenges: [HeaderChallenge], ticket: AuthorizationTicket, wasAsked: Bool, at target: Span<UInt8>,
        now: WallTime
    ) -> RepeatedChallenge? {
        guard challenges.contains(.loginPage) else { return nil }
        let hash = Self.hash(target)
        if isBarred(hash, now) { return .aborted }
        let verdict = judge(ticket, wasAsked: wasAsked)
        if verdict == .aborted { bar(hash, now) }
        return verdict
    }

    private func isBarred(_ target: UInt64, _ now: WallTime) -> Bool {
        barred.withLock { barred in barred[target].map { now < $0 } ?? false } && isOpen
    }

    private func bar(_ target: UInt64, _ now: WallTime) {
        barred.withLock { barred in
            if barred.count >= Self.barredLimit { barred = barred.filter { now < $0.value } }
            if barred.count >= Self.barredLimit { barred = [:] }
            barred[target] = now + Self.barredTime
        }
    }

    /// The hash of the path, without the query.
    private static func hash(_ target: Span<UInt8>) -> UInt64 {
        SpanHash.of(target.extracting(first: target.firstIndex(of: UInt8(ascii: "?")) ?? target.count), seed: 0)
    }

    private func judge(_ ticket: AuthorizationTicket, wasAsked: Bool) -> RepeatedChallenge {
        state.withLock { state in
            guard case .open(let generation, let standing, let jar) = state, generation == ticket.generation else {
                return .retry
            }
            switch standing {
            case .first: return .refused
            case .renewed:
                // Either this user may not see the target, or the next answer is refused.
                state = .open(generation: generation, .first, jar)
                return .aborted
            case .trusted where wasAsked: return .aborted
            case .trusted, .proven:
                state = .closed(generation: generation, former: jar)
                return .retry
            }
        }
    }

    /// Handles a response without a request for a login.
    ///
    /// - Parameters:
    ///   - wasAsked: whether an earlier response to this request asked for a login.
    ///   - target: the target of the request, if it may be repeated at any time.
    public func accepted(ticket: AuthorizationTicket, wasAsked: Bool, at target: [UInt8]? = nil) {
        guard wasAsked else { return }
        if let target { witness.withLock { $0 = .formerly(target) } }
        state.withLock { state in
            if case .open(let generation, _, let jar) = state, generation == ticket.generation {
                state = .open(generation: generation, .proven, jar)
            }
        }
    }
}
