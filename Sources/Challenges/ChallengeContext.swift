import Authentication
import Bytes
import IO
import Rules
import Telemetry

/// The request whose challenges are met.
public struct ChallengedRequest {
    /// The request target as the challenger sees it.
    public let target: ByteBuffer
    public let hasBody: Bool
    /// Whether it is a CONNECT, which only the parent answers (RFC 9110 section 9.3.6).
    public var opensTunnel = false
    /// Whether it goes out with an answer to the origin behind the parent.
    public var answersOrigin: () -> Bool = { false }
    /// Whether no client asks. A client's request may wait for this one, so it waits for none of them.
    public let isOwn: Bool
    public let record: ExchangeRecord
    public let presence: any RequestPresence
    public let waiting: WaitingTime
    /// The request as a sample by which the proxy can ask the server itself; nil where it cannot be repeated.
    public var sample: () -> Account.Sample? = { nil }

    /// The client's application, as it names itself in `User-Agent`; nil: it does not.
    public var application: () -> String? = { nil }

    public init(
        target: ByteBuffer, hasBody: Bool, isOwn: Bool, record: ExchangeRecord, presence: any RequestPresence,
        waiting: WaitingTime
    ) {
        self.target = target
        self.hasBody = hasBody
        self.isOwn = isOwn
        self.record = record
        self.presence = presence
        self.waiting = waiting
    }
}

/// All that one request's challenges are met with. Nothing here changes while the request is under way, but the objects that
/// it is made of do.
public final class ChallengeContext {
    public let source: AnswerSource
    public let request: ChallengedRequest
    /// Where the responses are read.
    public let response: any ChallengeResponse
    public let connection: any LoginConnection
    /// Nil where no rule has a form for the origin.
    public let pages: (any LoginPages)?
    public let fetcher: any TokenFetching
    public let metrics: Metrics
    /// The probe of this challenger that the request is; nil for all others.
    public var probe: Probe?

    /// - Parameter connection: the one that the request goes out on, and its response comes on.
    public init(
        source: AnswerSource, request: ChallengedRequest, connection: any ChallengeResponse & LoginConnection,
        pages: (any LoginPages)?, fetcher: any TokenFetching, metrics: Metrics
    ) {
        self.source = source
        self.request = request
        response = connection
        self.connection = connection
        self.pages = pages
        self.fetcher = fetcher
        self.metrics = metrics
    }

    public var loop: EventLoop { source.loop }
    public var delegate: RuleDelegate { source.delegate }
    public var challenger: Challenger { source.challenger }
    public var policy: ChallengePolicy { delegate.policy }
    public var state: ChallengeState { delegate.state }
    public var spaces: ProtectionSpaces { state.spaces }

    public var tokens: TokenSupply {
        TokenSupply(delegate: delegate, loop: loop, fetcher: fetcher)
    }

    /// How the rule that gives the answer wants connections logged in.
    ///
    /// - Parameter failures: refused answers of this request so far.
    func loginTerms(for answer: Answer, failures: Int) -> LoginTerms {
        let rule = delegate.rule(for: answer.space, failures: failures)
        let terms = rule.terms
        var login = LoginTerms(
            servicePrincipal: terms?.servicePrincipal, delegates: terms?.delegates ?? false,
            canonicalises: terms?.canonicalises ?? false, patience: policy.timeouts.connect)
        let (accounts, credential, owner) = (spaces.accounts, answer.credential, source.owner(of: answer.credential))
        let retry = RetryTerms(retry: rule.retry)
        login.admission = { kdc, limit throws(TicketError) in
            let evidence = accounts.evidence(of: credential, at: kdc, broughtBy: owner)
            return try await KDCAdmission(by: evidence, under: retry, within: limit)
        }
        return login
    }

    /// The challenges of a response that can be answered, in the order in which they are tried.
    ///
    /// - Parameter failures: as above.
    public func offers(in challenges: [HeaderChallenge], failures: Int) -> [Offer] {
        // The client answers itself.
        if source.terms.keepsAuthorization { return [] }
        return policy.rules.offers(
            in: challenges, from: challenger.origin, client: delegate.client, failures: failures, order: policy.order
        ).offers
    }

    /// What the challenger has said of a credential.
    func evidence(of credential: Credential) -> Evidence { source.evidence(of: credential) }

    /// What the rule says of versions that were refused.
    func retryTerms(for space: ProtectionSpace) -> RetryTerms { source.retryTerms(for: space) }

    /// Asks the account of the answer's credential whether it may be sent.
    func admit(_ answer: Answer) -> AnswerAdmission {
        let target = request.target
        return evidence(of: answer.credential).admit(
            target.readable, under: retryTerms(for: answer.space), now: loop.epochMilliseconds)
    }

    /// Keeps an answer that was accepted after a challenge: from now on it is given unasked.
    public func remember(_ authenticator: any Authenticator, for answer: Answer) {
        let target = request.target
        // Where a rule sends it is not learned, and no other process need know.
        let isLasting = !answer.isUnasked && source.isLasting(answer)
        spaces.remember(authenticator, for: answer, isLasting: isLasting)
        if answer.isUnasked { return }
        if authenticator.extent.coverage(of: target.readable) == nil {
            spaces.extend(answer.space, to: target.readable, isLasting: isLasting)
        }
        if request.record.ruleLine > 0 { source.keep(answer) }
    }
}
