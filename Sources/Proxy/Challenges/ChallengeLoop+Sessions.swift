import Authentication
import Bytes
import HTTP
import IO
import Telemetry

/// Answers that belong to a session at the server: it is begun by requests of its own, by one for all who wait, and again
/// when it has ended.
extension ChallengeLoop {
    /// Whether the answer stands in `Cookie`, with what the client says there.
    var answersByCookies: Bool {
        if case .session? = authenticator?.binding { true } else { false }
    }

    /// The field that the answer stands in.
    var answerField: StaticString { answersByCookies ? "Cookie" : fields.answer }

    /// Whether pages have to come in a coding that can be undone.
    var readsPages: Bool { forms?.readsPages ?? false }

    /// Appends the cookies of the session, and the client's own. Of no session, the client's alone.
    func appendCookies(of session: SessionAuthenticator, into value: ByteBuffer) -> AuthorizationTicket? {
        let now = loop.epochMilliseconds
        let ticket = session.authorize(target: target.readable, at: now, into: value)
        forms?.appendClientCookies(besides: session, at: now, into: value)
        return ticket
    }

    /// Whether a response asks for a login, which no field of it says.
    func isLoginPage() async throws(ExchangeFailure) -> Bool {
        guard let forms, forms.mayBeLogin else { return false }
        return try await forms.recognise()
    }

    /// Keeps the session's cookies from the client, and up to date.
    func takeCookies(isGood: Bool) {
        guard let forms, let ticket, case .session(let session)? = authenticator?.binding else { return }
        forms.takeCookies(for: session, ticket, keeps: isGood)
    }

    /// Finds out whether it is the session that is no good, or the target that its user may not see.
    func resolveDoubt() async {
        guard case .session(let session)? = authenticator?.binding, let ticket, let forms,
            let (witness, jar) = session.doubt(ticket: ticket)
        else { return }
        let isGood: Bool
        switch witness {
        case .formerly(let target): isGood = await forms.asks(at: target, with: jar) == false
        case .landing(let target):
            isGood = await forms.asks(at: target, with: CookieJar(origin: jar.origin)) == true
        }
        if isGood { session.trust(ticket: ticket) }
    }

    /// Sees to it that there is what the answer is made of.
    ///
    /// - Parameter reason: why there can be no answer at all.
    /// - Returns: what to do instead; nil: the request can go out again.
    mutating func goOn(
        with answer: Authentication.Answer, unless reason: PassReason?,
        _ response: AuthenticationChallenge.FailureResponse, _ offers: [Offer]
    ) async -> ChallengeTask.Action? {
        if let reason {
            if let refusal = takeSetback() { return task.challenged(response, offers: offers, refusal: refusal) }
            return task.unanswerable(reason)
        }
        guard case .session(let session)? = authenticator?.binding, let forms else { return nil }
        wasAsked = true
        let version = answer.credential.version
        if !session.isOpen, spaceLease == nil { _ = await awaitTurn(for: answer) }
        if session.isOpen { return nil }
        if let reason = parked(answer) { return task.unanswerable(reason) }
        guard !hasWaitedInVain else { return noSession(version, "another request has just tried") }
        if let spaceLease { presence.beginLogin(spaceLease) }
        switch await forms.logIn(with: answer.credential) {
        case .loggedIn(let jar, let landing):
            session.open(jar, landing: landing)
            // Who waits for a session that was good before need not wait for this request as well.
            if answer.challenge == nil { settle(.accepted) }
            return nil
        case .refused:
            shared.spaces.forget(version, for: answer.space)
            return task.challenged(response, offers: offers, refusal: .refused)
        case .failed(let error):
            shared.report("credential \(version.name) is not logged in at \(origin.hostText):\(origin.port): \(error)")
            return noSession(version, "\(error)")
        }
    }

    private mutating func noSession(_ version: CredentialVersion, _ why: String) -> ChallengeTask.Action {
        let sentence = "credential \(version.name) is not logged in: \(why)"
        record.details = sentence
        explanation = "\(origin.title) wants a login, and \(sentence)"
        return .cancel(reason: sentence)
    }
}
