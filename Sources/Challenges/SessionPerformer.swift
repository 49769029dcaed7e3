import Authentication
import Bytes

/// Gives answers that belong to a session at the server, which requests show by cookies: it is begun by requests of its own,
/// by one for all who wait, and again when it has ended.
struct SessionPerformer {
    public let session: SessionAuthenticator
    /// Nil where no rule has a form any more.
    public let pages: (any LoginPages)?

    /// Appends the cookies of the session, and the client's own. Of no session, the client's alone.
    ///
    /// - Parameter now: milliseconds since 1970.
    /// - Returns: nil where there is no session.
    public func authorize(target: Span<UInt8>, at now: Int, into value: ByteBuffer) -> AuthorizationTicket? {
        let ticket = session.authorize(target: target, at: now, into: value)
        pages?.appendClientCookies(besides: session, at: now, into: value)
        return ticket
    }

    /// Keeps the session's cookies from the client, and up to date.
    public func takeCookies(of ticket: AuthorizationTicket?, isGood: Bool) {
        if let pages, let ticket { pages.takeCookies(for: session, ticket, keeps: isGood) }
    }

    /// Finds out whether the session is no good, or its user may not see the target.
    func resolveDoubt(about ticket: AuthorizationTicket?) async {
        guard let ticket, let pages, let (witness, jar) = session.doubt(ticket: ticket) else { return }
        let isGood: Bool
        switch witness {
        case .formerly(let target): isGood = await pages.asks(at: target, with: jar) == false
        case .landing(let target):
            isGood = await pages.asks(at: target, with: CookieJar(origin: jar.origin)) == true
        }
        if isGood { session.trust(ticket: ticket) }
    }

    /// The meaning of a challenge for the session; nil where it asks for no login.
    ///
    /// - Parameters:
    ///   - sawLoginPage: whether one came on the way of this request before.
    ///   - now: milliseconds since 1970.
    public func refusal(
        by challenges: [HeaderChallenge], of ticket: AuthorizationTicket?, sawLoginPage: Bool, at target: Span<UInt8>,
        now: Int
    ) -> RepeatedChallenge? {
        guard let ticket else { return nil }
        return session.refused(by: challenges, ticket: ticket, wasAsked: sawLoginPage, at: target, now: now)
    }

    /// A response that asks for no login; nil where it judges no session.
    ///
    /// - Parameter sawLoginPage: as above.
    public func proof(
        in response: some ChallengeResponse, of ticket: AuthorizationTicket?, sawLoginPage: Bool
    ) -> Acceptance? {
        guard let ticket, response.hasJudged else { return nil }
        session.accepted(ticket: ticket, wasAsked: sawLoginPage, at: sawLoginPage ? pages?.safeTarget : nil)
        return .unverified
    }

    /// The outcome of the login that this request makes for all who wait.
    public func logIn(with credential: Credential) async -> LoginOutcome? {
        guard let outcome = await pages?.logIn(with: credential) else { return nil }
        if case .loggedIn(let jar, let landing) = outcome { session.open(jar, landing: landing) }
        return outcome
    }
}
