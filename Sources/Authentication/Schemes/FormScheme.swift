import Bytes
import Model
import Synchronization

/// HTML forms, as a scheme: a page that a rule recognises is the challenge, the cookies that a login brings the answer.
public struct FormScheme: AuthenticationScheme {
    public let method = AuthenticationMethod.htmlForm

    public init() {}

    public func strength(of challenge: HeaderChallenge) -> Int? {
        challenge == .loginPage ? Strength.form : nil
    }

    public func authenticator(
        for challenge: HeaderChallenge, in space: ProtectionSpace, at target: Span<UInt8>, with credential: Credential
    ) throws(AuthenticationError) -> any Authenticator {
        guard credential.user != nil, credential.password != nil else {
            throw .unsuitableCredential(credential: credential.version.name, method: method)
        }
        return SessionAuthenticator()
    }
}

extension HeaderChallenge {
    /// The challenge of a page that asks for a login. No field can say it: its name is no token.
    public static let loginPage = HeaderChallenge(scheme: "login page")
}

/// Answers with the cookies of a session that the server keeps for one credential. A session is begun by requests of its
/// own, which its users see to: one of them at a time, for all.
public final class SessionAuthenticator: Authenticator {
    /// Where it shows whether a session is good.
    public enum Witness: Sendable, Equatable {
        /// Here somebody was let in who was not before: who has a good session is not asked for a login.
        case formerly([UInt8])
        /// Here the last login led to, and was not asked for another. If everybody else is, the session is good.
        case landing([UInt8])
    }

    /// The known facts of a session.
    private enum Standing {
        /// The first there is, and nobody was let in by it yet.
        case first
        /// As `first`, but the one before was good.
        case renewed
        /// As `first`, and it was found to be good by a witness.
        case trusted
        /// Somebody was let in by it who was not before.
        case proven
    }

    private enum State {
        /// Awaiting a login; becomes `open`. Responses to requests of the session before may still be under way.
        case closed(generation: UInt32, former: CookieJar?)
        /// Becomes `closed` when the server asks for a login in spite of it.
        case open(generation: UInt32, Standing, CookieJar)
    }

    private let witness = Mutex<Witness?>(nil)
    /// The targets that asked for a login in spite of a good session, by hash, and until when they begin no other, in
    /// milliseconds since 1970.
    private let barred = Mutex<[UInt64: Int]>([:])
    private static let barredLimit = 1024
    private static let barredMilliseconds = 30_000
    private let state = Mutex(State.closed(generation: 0, former: nil))

    init() {}

    public var binding: AuthenticatorBinding { .session(self) }

    /// Cookies say themselves what they belong to.
    public var extent: Extent { .origin }

    public func answers(_ challenge: HeaderChallenge) -> Bool { challenge == .loginPage }

    /// Whether requests can be answered; else a login is due.
    public var isOpen: Bool {
        state.withLock { if case .open = $0 { true } else { false } }
    }

    /// A login came to its good end.
    ///
    /// - Parameter landing: where it led to.
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

    /// Appends the value of `Cookie`: the session's cookies for the target. Nil when no session is open.
    ///
    /// - Parameter now: milliseconds since 1970.
    public func authorize(target: Span<UInt8>, at now: Int, into value: ByteBuffer) -> AuthorizationTicket? {
        state.withLock { state in
            guard case .open(let generation, _, let jar) = state else { return nil }
            jar.append(for: target, at: now, to: value)
            return AuthorizationTicket(generation: generation)
        }
    }

    /// Appends what a client's own `Cookie` field says, but for cookies of a name that the session sends there.
    public func append(client field: Span<UInt8>, target: Span<UInt8>, at now: Int, into value: ByteBuffer) {
        state.withLock { state in
            guard case .open(_, _, let jar) = state else { return }
            jar.append(client: field, besidesThoseFor: target, at: now, to: value)
        }
    }

    /// Whether a `Set-Cookie` field is about a cookie of the session, or of the one before while there is none, and so
    /// nobody else's.
    public func owns(_ field: Span<UInt8>) -> Bool {
        state.withLock { state in
            switch state {
            case .closed(_, let former): former?.owns(field) ?? false
            case .open(_, _, let jar): jar.owns(field)
            }
        }
    }

    /// The server sets a cookie of the session anew.
    public func take(_ field: Span<UInt8>, at target: Span<UInt8>, ticket: AuthorizationTicket, now: Int) {
        state.withLock { state in
            guard case .open(let generation, let standing, var jar) = state, generation == ticket.generation,
                jar.owns(field)
            else { return }
            jar.take(field, at: target, now: now)
            state = .open(generation: generation, standing, jar)
        }
    }

    /// The witness to ask about a session that let nobody in yet and was answered with a login page: either it is no
    /// good, or its user may not see that page. Nil where there is nothing to find out.
    public func doubt(ticket: AuthorizationTicket) -> (witness: Witness, jar: CookieJar)? {
        guard let witness = witness.withLock({ $0 }) else { return nil }
        return state.withLock { state in
            guard case .open(let generation, let standing, let jar) = state, generation == ticket.generation,
                standing == .first || standing == .renewed
            else { return nil }
            return (witness, jar)
        }
    }

    /// The witness says that the session is good.
    public func trust(ticket: AuthorizationTicket) {
        state.withLock { state in
            guard case .open(let generation, let standing, let jar) = state, generation == ticket.generation,
                standing == .first || standing == .renewed
            else { return }
            state = .open(generation: generation, .trusted, jar)
        }
    }

    /// Judges the challenges that came on an answer; nil where none of them is for a login.
    ///
    /// A page that asks in spite of a good session is not for its user, or leads everybody to the login. Each look at it
    /// would cost a login: it begins one in 30 seconds at most.
    ///
    /// - Parameters:
    ///   - wasAsked: whether one came on the same request before.
    ///   - now: milliseconds since 1970.
    public func refused(
        by challenges: [HeaderChallenge], ticket: AuthorizationTicket, wasAsked: Bool, at target: Span<UInt8>, now: Int
    ) -> RepeatedChallenge? {
        guard challenges.contains(.loginPage) else { return nil }
        let hash = Self.hash(target)
        if isBarred(hash, now) { return .aborted }
        let verdict = judge(ticket, wasAsked: wasAsked)
        if verdict == .aborted { bar(hash, now) }
        return verdict
    }

    private func isBarred(_ target: UInt64, _ now: Int) -> Bool {
        barred.withLock { barred in barred[target].map { now < $0 } ?? false } && isOpen
    }

    private func bar(_ target: UInt64, _ now: Int) {
        barred.withLock { barred in
            if barred.count >= Self.barredLimit { barred = barred.filter { now < $0.value } }
            if barred.count >= Self.barredLimit { barred = [:] }
            barred[target] = now &+ Self.barredMilliseconds
        }
    }

    /// Of the path, without the query.
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
                // It is the target that this user may not see, or else the next answer is refused.
                state = .open(generation: generation, .first, jar)
                return .aborted
            case .trusted where wasAsked: return .aborted
            case .trusted, .proven:
                state = .closed(generation: generation, former: jar)
                return .retry
            }
        }
    }

    /// A response that asks for no login.
    ///
    /// - Parameters:
    ///   - wasAsked: whether one to the same request did.
    ///   - target: of the request, if it may be sent again at any time.
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
