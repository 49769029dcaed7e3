import Authentication
import Bytes
import Credentials
import Crypto
import HTTP
import IO
import Model

/// Gives one request's answer, and interprets the responses to it. The answer belongs to the request, to its
/// connection, or to a session at the server. On a connection the credential is logged in, or a login begins with this
/// request. A session is begun by the proxy's own requests, and shown by cookies.
final class AnswerSession {
    let context: ChallengeContext
    private(set) var state: PreparedAnswer.State
    /// Whether the request is sent without its body, because its answer can only bring the next challenge.
    private(set) var omitsBody = false
    /// The credential with its own place that is sent beside the answer to a challenge.
    private(set) var companion: PreparedAnswer?
    /// Whether a login page came earlier for this request.
    var sawLoginPage = false

    init(_ state: PreparedAnswer.State = .none, in context: ChallengeContext) {
        self.state = state
        self.context = context
    }

    private var binding: AuthenticatorBinding? { state.prepared?.binding }

    /// Whether a connection that is logged in for this request also serves other clients: with a credential of the rule
    /// file, if no rule about the challenger depends on the client.
    private func sharesLogins(of version: CredentialVersion) -> Bool {
        !context.challenger.answersDependOnClient(by: context.policy.rules)
            && (try? context.delegate.configured(version.name, for: context.challenger.origin))?.version == version
    }

    // MARK: - Before the request is sent

    var answer: Answer? { state.prepared?.answer }

    /// The digest algorithm for the whole body that the answer needs; nil if none.
    var bodyDigest: DigestAlgorithm? { state.prepared?.bodyDigest }

    /// The credential whose login the connection must have or be free for; nil if requests may share it.
    var loginVersion: CredentialVersion? {
        state.prepared.flatMap { $0.wantsLogin ? $0.answer.credential.version : nil }
    }

    /// The session that the answer belongs to.
    var session: SessionAuthenticator? {
        if case .session(let session)? = binding { session } else { nil }
    }

    /// Sets the answer.
    func take(_ prepared: PreparedAnswer) {
        keepCompanion()
        state = .prepared(prepared)
        // Digest is computed over the URL, which would differ from the client's.
        if placement?.parameters.isEmpty == false, prepared.answer.space.authenticationMethod == .digest {
            companion = nil
        }
    }

    private func keepCompanion() {
        if let placement = ownPlacement, !placement.isInAuthorization { companion = state.prepared }
    }

    /// The places of a preemptive credential; nil if it goes in the usual field.
    var placement: RequestPlacement? { ownPlacement ?? companion?.placement }

    private var ownPlacement: RequestPlacement? { state.prepared?.placement }

    /// Removes the answer: the request is sent without one.
    func drop() {
        keepCompanion()
        state = .none
        omitsBody = false
    }

    /// Prepares to resend the request with the answer that this server accepted before.
    func renew() { state.renew() }

    /// Fetches what a login needs before a connection is spent on it.
    ///
    /// - Parameter failures: the number of refused answers of this request so far.
    func prepareConnections(failures: Int) async throws(AuthenticationError) {
        guard case .connection(let authenticator)? = binding, let answer else { return }
        try await authenticator.prepare(under: context.loginTerms(for: answer, failures: failures))
    }

    /// Claims the connection for a login, and prepares its next token, which may be slow.
    ///
    /// - Parameter failures: refused answers of this request so far.
    func prepareLogin(failures: Int) async throws(AuthenticationError) {
        omitsBody = false
        guard case .connection(let authenticator)? = binding, let answer else { return }
        let connection = context.connection
        if !connection.isClaimed {
            let login = authenticator.makeContext(
                over: connection.channelBinding, under: context.loginTerms(for: answer, failures: failures))
            connection.claim(
                for: answer.credential, in: login, isShared: sharesLogins(of: answer.credential.version))
        }
        guard let login = connection.login, !login.isEstablished else { return }
        try await login.prepare()
        // The token can only bring another challenge.
        omitsBody = login.isOpening && context.request.hasBody
    }

    /// Appends the value of the field that answers.
    /// - Returns: whether an answer was given; false where only the client's own cookies were appended.
    func authorize(
        method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, into value: ByteBuffer
    ) throws(AuthenticationError) -> Bool {
        guard let prepared = state.prepared else { return false }
        switch prepared.binding {
        case .request:
            state.send(try prepared.authorize(method: method, target: target, bodyDigest: bodyDigest, into: value))
        case .connection:
            let login = context.connection.login.flatMap { $0.isEstablished ? nil : $0 }
            try login?.authorize(at: context.loop.wallTime, into: value)
            state.send(nil)
            return login != nil
        case .session(let session):
            let (request, now) = (context.request.target, context.loop.wallTime)
            let ticket = session.authorize(target: request.readable, at: now, into: value)
            context.pages?.appendClientCookies(besides: session, at: now, into: value)
            guard let ticket else {
                drop()
                return false
            }
            state.send(ticket)
        }
        return true
    }

    // MARK: - A session

    /// Keeps the session's cookies from the client, and up to date.
    func takeCookies(isGood: Bool) {
        guard let session, let pages = context.pages, let ticket = state.ticket else { return }
        pages.takeCookies(for: session, ticket, keeps: isGood)
    }

    /// Finds out whether the session has ended, or its user may not see the target.
    func resolveDoubt() async {
        guard let session, let ticket = state.ticket, let pages = context.pages,
            let (witness, jar) = session.doubt(ticket: ticket)
        else { return }
        let isGood: Bool
        switch witness {
        case .formerly(let target): isGood = await pages.asks(at: target, with: jar) == false
        case .landing(let target):
            isGood = await pages.asks(at: target, with: CookieJar(origin: jar.origin)) == true
        }
        if isGood { session.trust(ticket: ticket) }
    }

    /// Logs in for all waiting requests, and returns the result; nil if the rules have no form now.
    func logIn(with credential: Credential) async -> LoginOutcome? {
        guard let session, let outcome = await context.pages?.logIn(with: credential) else { return nil }
        if case .loggedIn(let jar, let landing) = outcome { session.open(jar, landing: landing) }
        return outcome
    }

    // MARK: - The response

    /// The meaning of a challenge for the answer; nil where none was sent. With the reason why a login came to nothing, where
    /// that says nothing of the credential.
    func refusal(by challenges: [HeaderChallenge]) -> (refusal: RepeatedChallenge?, trouble: AuthenticationError?) {
        switch binding {
        case .request(let authenticator)?:
            return (state.ticket.map { authenticator.refused(by: challenges, ticket: $0) }, nil)
        case .connection?: return loginRefusal(by: challenges)
        case .session(let session)?:
            let (target, now) = (context.request.target, context.loop.wallTime)
            guard let ticket = state.ticket else { return (nil, nil) }
            let refusal = session.refused(
                by: challenges, ticket: ticket, wasAsked: sawLoginPage, at: target.readable, now: now)
            return (refusal, nil)
        case nil: return (nil, nil)
        }
    }

    /// A handshake continues only on its connection. A connection that served before may have reached the server's
    /// limit; a new one is then tried.
    private func loginRefusal(
        by challenges: [HeaderChallenge]
    ) -> (refusal: RepeatedChallenge?, trouble: AuthenticationError?) {
        guard let login = context.connection.login else { return (nil, nil) }
        let refusal = login.refused(by: challenges)
        if refusal == .proceed, !context.response.keepsConnection {
            return (context.connection.isReused ? .retry : .aborted, login.trouble)
        }
        return (refusal, login.trouble)
    }

    /// The meaning of a response that is not a challenge; nil if it judges nothing.
    ///
    /// - Parameter bodyDigest: the digest of the response's content, if `needsBody` asked for it.
    func proof(bodyDigest: [UInt8]?) -> Acceptance? {
        let (response, challenger) = (context.response, context.challenger)
        switch binding {
        case .request(let authenticator)?:
            let target = context.request.target
            guard let ticket = state.ticket, response.hasJudged else { return nil }
            return response.withInformation(in: challenger.fields.information) {
                authenticator.accepted($0, ticket: ticket, target: target.readable, bodyDigest: bodyDigest)
            }
        case .connection?:
            guard let login = context.connection.login else { return nil }
            if omitsBody { return .ignored }
            guard response.hasJudged else { return nil }
            if login.isEstablished { return .unverified }
            // Only origins say whether logins last.
            return login.accepted(
                by: response.challenges(in: challenger.fields.challenge),
                persists: challenger.isProxy || response.persistsLogin)
        case .session(let session)?:
            guard let ticket = state.ticket, response.hasJudged else { return nil }
            let target = sawLoginPage ? context.pages?.safeTarget : nil
            session.accepted(ticket: ticket, wasAsked: sawLoginPage, at: target)
            return .unverified
        case nil: return nil
        }
    }

    /// The challenge that refuses a valid token for its scopes (RFC 6750 section 3.1); nil if they suffice. Registries
    /// challenge for other scopes in their own way.
    var scopeChallenge: HeaderChallenge? {
        let status = context.response.status
        guard status == .forbidden || status == .unauthorized, let answer,
            answer.space.authenticationMethod == .bearer, answer.credential.registryScopes == nil
        else { return nil }
        return context.response.challenges(in: context.challenger.fields.challenge).first { $0.isOfScope }
    }

    /// The sentence about a valid token with insufficient scope; nil if the scope suffices.
    ///
    /// - Parameter reason: the reason why no other token was fetched; nil if none was wanted.
    func missingScope(because reason: String?) -> String? {
        guard let challenge = scopeChallenge, let name = answer?.credential.version.name else { return nil }
        let wanted = challenge.text("scope").map { " (\($0))" } ?? ""
        let sentence = "the token of credential \(name) lacks the scope that \(context.challenger.title) requires"
        return sentence + wanted + (reason.map { ": \($0)" } ?? "")
    }

    // MARK: - What a response says for people

    /// The text of the response for people, without what the request had sent.
    var excerpt: ResponseExcerpt? {
        var mask = EchoMask()
        hideAnswer(in: &mask)
        return context.response.excerpt(hiding: mask)
    }

    /// The excerpt of a response that refused the answer; nil for any other response.
    func excerpt(after refusal: RepeatedChallenge?) -> ResponseExcerpt? {
        switch refusal {
        case .refused?, .denied?, .unrelated?: answer == nil ? nil : excerpt
        case .retry?, .renewed?, .proceed?, .aborted?, nil: nil
        }
    }

    /// Has the mask hide the answer that the request was sent with.
    func hideAnswer(in mask: inout EchoMask) {
        for prepared in [state.prepared, companion] {
            if let prepared { mask.add(prepared.answer.credential) }
        }
        guard let session else { return }
        let (cookies, target) = (ByteBuffer(capacity: 256), context.request.target)
        _ = session.authorize(target: target.readable, at: context.loop.wallTime, into: cookies)
        mask.add(cookies: cookies.readable)
    }
}
