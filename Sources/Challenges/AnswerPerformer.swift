import Authentication
import Bytes
import Credentials
import Crypto
import HTTP
import IO
import Model

/// Gives one request's answer, and says what responses mean for it: by the performer of the answer's binding.
final class AnswerPerformer {
    private enum Binding {
        case request(RequestPerformer)
        case connection(ConnectionPerformer)
        case session(SessionPerformer)
    }

    let context: ChallengeContext
    public private(set) var state: AnswerState
    /// Whether the request goes out without its body, since its answer can only bring the next challenge.
    public private(set) var omitsBody = false
    /// The credential with a place of its own that goes along with the answer to a challenge.
    private(set) var companion: PreparedAnswer?
    /// Whether a login page came on the way of this request.
    var sawLoginPage = false

    public init(_ state: AnswerState = .none, in context: ChallengeContext) {
        self.state = state
        self.context = context
    }

    private var binding: Binding? {
        switch state.prepared?.binding {
        case .request(let authenticator)?:
            .request(RequestPerformer(authenticator: authenticator, challenger: context.challenger))
        case .connection(let authenticator)?:
            .connection(
                ConnectionPerformer(
                    authenticator: authenticator, connection: context.connection, challenger: context.challenger))
        case .session(let session)?: .session(SessionPerformer(session: session, pages: context.pages))
        case nil: nil
        }
    }

    /// Whether a connection that is logged in for this request serves other clients as well: with a credential of the rule
    /// file, where no rule about the challenger looks at who asks.
    private func sharesLogins(of version: CredentialVersion) -> Bool {
        let policy = context.policy
        return !context.challenger.answersDependOnClient(by: policy.rules)
            && (try? policy.credentials.credential(named: version.name))?.version == version
    }

    // MARK: - Before the request is sent

    public var answer: Answer? { state.prepared?.answer }

    /// The digest of the whole body that the answer needs, if it needs one.
    public var bodyDigest: DigestAlgorithm? { state.prepared?.bodyDigest }

    /// The credential whose login the connection must have, or be free for; nil when requests may share it.
    public var loginVersion: CredentialVersion? {
        state.prepared.flatMap { $0.wantsLogin ? $0.answer.credential.version : nil }
    }

    /// The performer of an answer that belongs to a session.
    public var session: SessionPerformer? {
        guard case .session(let session)? = state.prepared?.binding else { return nil }
        return SessionPerformer(session: session, pages: context.pages)
    }

    /// The answer is that from now on.
    public func take(_ prepared: PreparedAnswer) {
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
    public func drop() {
        keepCompanion()
        state = .none
        omitsBody = false
    }

    /// The request goes out again, which the server has let pass: the answer of that time is given unasked.
    public func renew() { state.renew() }

    /// Gets what a login needs before a connection is spent on it.
    ///
    /// - Parameter failures: refused answers of this request so far.
    func prepareConnections(failures: Int) async throws(AuthenticationError) {
        guard case .connection(let performer)? = binding, let answer else { return }
        try await performer.authenticator.prepare(under: context.loginTerms(for: answer, failures: failures))
    }

    /// Gets ready for the next token of a login, which claims the connection.
    ///
    /// - Parameter failures: as above.
    public func prepareLogin(failures: Int) async throws(AuthenticationError) {
        omitsBody = false
        guard case .connection(let performer)? = binding, let answer else { return }
        let isOpening = try await performer.prepare(
            with: answer.credential, isShared: sharesLogins(of: answer.credential.version),
            under: context.loginTerms(for: answer, failures: failures))
        omitsBody = isOpening && context.request.hasBody
    }

    /// Appends the value of the field that answers.
    /// - Returns: whether an answer was given. Cookies of the client's alone are none, although they stand there.
    public func authorize(
        method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, into value: ByteBuffer
    ) throws(AuthenticationError) -> Bool {
        switch binding {
        case .request(let performer)?:
            state.send(try performer.authorize(method: method, target: target, bodyDigest: bodyDigest, into: value))
        case .connection(let performer)?:
            let isDue = try performer.authorize(at: context.loop.epochMilliseconds, into: value)
            state.send(nil)
            return isDue
        case .session(let performer)?:
            let (request, now) = (context.request.target, context.loop.epochMilliseconds)
            guard let ticket = performer.authorize(target: request.readable, at: now, into: value) else {
                drop()
                return false
            }
            state.send(ticket)
        case nil: return false
        }
        return true
    }

    // MARK: - The response

    /// Keeps the session's cookies from the client, and up to date.
    public func takeCookies(isGood: Bool) { session?.takeCookies(of: state.ticket, isGood: isGood) }

    /// The meaning of a challenge for the answer; nil where none was sent. With the reason why a login came to nothing, where
    /// nobody is to blame who it is about.
    public func refusal(by challenges: [HeaderChallenge]) -> (
        refusal: RepeatedChallenge?, trouble: AuthenticationError?
    ) {
        switch binding {
        case .request(let performer)?: return (performer.refusal(by: challenges, of: state.ticket), nil)
        case .connection(let performer)?: return performer.refusal(by: challenges, in: context.response)
        case .session(let performer)?:
            let (target, now) = (context.request.target, context.loop.epochMilliseconds)
            let refusal = performer.refusal(
                by: challenges, of: state.ticket, sawLoginPage: sawLoginPage, at: target.readable, now: now)
            return (refusal, nil)
        case nil: return (nil, nil)
        }
    }

    /// The meaning of a response that is no challenge; nil when it has judged nothing.
    ///
    /// - Parameter bodyDigest: of the response's content, once it was asked for by `needsBody`.
    public func proof(bodyDigest: [UInt8]?) -> Acceptance? {
        let (response, target) = (context.response, context.request.target)
        return switch binding {
        case .request(let performer)?:
            performer.proof(in: response, of: state.ticket, at: target.readable, bodyDigest: bodyDigest)
        case .connection(let performer)?: performer.proof(in: response, omitsBody: omitsBody)
        case .session(let performer)?: performer.proof(in: response, of: state.ticket, sawLoginPage: sawLoginPage)
        case nil: nil
        }
    }

    /// The sentence about a token that is good, and not good enough (RFC 6750 section 3.1); nil where it is.
    var missingScope: String? {
        guard mayLackScope, let name = answer?.credential.version.name else { return nil }
        let challenger = context.challenger
        let challenge = context.response.challenges(in: challenger.fields.challenge).first {
            $0.scheme == "bearer" && $0.text("error") == "insufficient_scope"
        }
        guard let challenge else { return nil }
        let wanted = challenge.text("scope").map { " (\($0))" } ?? ""
        return "the token of credential \(name) lacks the scope that \(challenger.title) requires\(wanted)"
    }

    /// Whether a response may name a fault of a token that it did not refuse.
    var mayLackScope: Bool {
        context.response.status == .forbidden && answer?.space.authenticationMethod == .bearer
    }
}
