import Authentication
import Bytes
import Credentials
import Crypto
import HTTP
import IO
import Model

/// Gives one request's answer, and says what responses mean for it. The answer belongs to the request; to its connection, where
/// the credential is logged in, or a login is begun with this very request; or to a session at the server, which requests show
/// by cookies and which requests of its own begin.
final class AnswerPerformer {
    let context: ChallengeContext
    private(set) var state: AnswerState
    /// Whether the request goes out without its body, since its answer can only bring the next challenge.
    private(set) var omitsBody = false
    /// The credential with a place of its own that goes along with the answer to a challenge.
    private(set) var companion: PreparedAnswer?
    /// Whether a login page came on the way of this request.
    var sawLoginPage = false

    init(_ state: AnswerState = .none, in context: ChallengeContext) {
        self.state = state
        self.context = context
    }

    private var binding: AuthenticatorBinding? { state.prepared?.binding }

    /// Whether a connection that is logged in for this request serves other clients as well: with a credential of the rule
    /// file, where no rule about the challenger looks at who asks.
    private func sharesLogins(of version: CredentialVersion) -> Bool {
        let policy = context.policy
        return !context.challenger.answersDependOnClient(by: policy.rules)
            && (try? policy.credentials.credential(named: version.name))?.version == version
    }

    // MARK: - Before the request is sent

    var answer: Answer? { state.prepared?.answer }

    /// The digest of the whole body that the answer needs, if it needs one.
    var bodyDigest: DigestAlgorithm? { state.prepared?.bodyDigest }

    /// The credential whose login the connection must have, or be free for; nil when requests may share it.
    var loginVersion: CredentialVersion? {
        state.prepared.flatMap { $0.wantsLogin ? $0.answer.credential.version : nil }
    }

    /// The session that the answer belongs to.
    var session: SessionAuthenticator? {
        if case .session(let session)? = binding { session } else { nil }
    }

    /// The answer is that from now on.
    func take(_ prepared: PreparedAnswer) {
        keepCompanion()
        state = .prepared(prepared)
        // Digest is made over the URL, which another than the client's would be.
        if placement?.parameters.isEmpty == false, prepared.answer.space.authenticationMethod == .digest {
            companion = nil
        }
    }

    private func keepCompanion() {
        if let placement = ownPlacement, !placement.isInAuthorization { companion = state.prepared }
    }

    /// The places of a credential that is sent unasked, if not in the field of answers.
    var placement: RequestPlacement? { ownPlacement ?? companion?.placement }

    private var ownPlacement: RequestPlacement? { state.prepared?.placement }

    /// The request goes out without an answer.
    func drop() {
        keepCompanion()
        state = .none
        omitsBody = false
    }

    /// Prepares to resend the request with the answer that this server accepted before.
    func renew() { state.renew() }

    /// Gets what a login needs before a connection is spent on it.
    ///
    /// - Parameter failures: refused answers of this request so far.
    func prepareConnections(failures: Int) async throws(AuthenticationError) {
        guard case .connection(let authenticator)? = binding, let answer else { return }
        try await authenticator.prepare(under: context.loginTerms(for: answer, failures: failures))
    }

    /// Claims the connection for a login, and gets ready for its next token, which may take its time.
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
            try login?.authorize(at: context.loop.epochMilliseconds, into: value)
            state.send(nil)
            return login != nil
        case .session(let session):
            let (request, now) = (context.request.target, context.loop.epochMilliseconds)
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

    /// Finds out whether the session is no good, or its user may not see the target.
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

    /// Logs in for all requests that wait, and returns the outcome; nil where the rules no longer have a form.
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
            let (target, now) = (context.request.target, context.loop.epochMilliseconds)
            guard let ticket = state.ticket else { return (nil, nil) }
            let refusal = session.refused(
                by: challenges, ticket: ticket, wasAsked: sawLoginPage, at: target.readable, now: now)
            return (refusal, nil)
        case nil: return (nil, nil)
        }
    }

    /// A handshake continues only on its connection. A connection that served before may have come to the end that
    /// servers set to them, and a new one gets another try.
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

    /// The meaning of a response that is no challenge; nil when it has judged nothing.
    ///
    /// - Parameter bodyDigest: of the response's content, once it was asked for by `needsBody`.
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
            // The field that says whether logins last is the origin's.
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

    /// The sentence about a token that is good, and not good enough (RFC 6750 section 3.1); nil where it is.
    var missingScope: String? {
        guard context.response.status == .forbidden, answer?.space.authenticationMethod == .bearer,
            let name = answer?.credential.version.name
        else { return nil }
        let challenger = context.challenger
        let challenge = context.response.challenges(in: challenger.fields.challenge).first {
            $0.scheme == "bearer" && $0.text("error") == "insufficient_scope"
        }
        guard let challenge else { return nil }
        let wanted = challenge.text("scope").map { " (\($0))" } ?? ""
        return "the token of credential \(name) lacks the scope that \(challenger.title) requires\(wanted)"
    }

    // MARK: - What a response says for people

    /// The text of the response for people, without what the request had sent.
    var excerpt: ResponseExcerpt? {
        var mask = EchoMask()
        hideAnswer(in: &mask)
        return context.response.excerpt(hiding: mask)
    }

    /// The text of a response that refused the answer; nil for any other response.
    func excerpt(after refusal: RepeatedChallenge?) -> ResponseExcerpt? {
        switch refusal {
        case .refused?, .denied?, .unrelated?: answer == nil ? nil : excerpt
        case .retry?, .renewed?, .proceed?, .aborted?, nil: nil
        }
    }

    /// Has the mask hide the answer that the request went out with.
    func hideAnswer(in mask: inout EchoMask) {
        for prepared in [state.prepared, companion] {
            if let prepared { mask.add(prepared.answer.credential) }
        }
        guard let session else { return }
        let (cookies, target) = (ByteBuffer(capacity: 256), context.request.target)
        _ = session.authorize(target: target.readable, at: context.loop.epochMilliseconds, into: cookies)
        mask.add(cookies: cookies.readable)
    }
}
