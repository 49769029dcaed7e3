import Authentication
import Bytes
import Credentials
import IO
import Model
import Rules
import Telemetry

/// The context in which one request's challenges are handled. It does not change during the request, but its objects
/// do.
public final class ChallengeContext {
    /// A request whose challenges are handled.
    public struct Request {
        /// The request target as the challenger sees it.
        public let target: ByteBuffer
        public let hasBody: Bool
        /// Whether the request is a CONNECT, which only the parent answers (RFC 9110 section 9.3.6).
        public var opensTunnel = false
        /// Whether the request is sent with an answer to the origin behind the parent.
        public var answersOrigin: () -> Bool = { false }
        /// Whether it is the proxy's own request. A client's request may wait for it, so it waits for no other.
        public let isOwn: Bool
        public let record: ExchangeRecord
        public let presence: any RequestPresence
        public let waiting: WaitingTime
        /// The request as a sample by which the proxy can ask the server itself; nil if it cannot be repeated.
        public var sample: () -> Account.Sample? = { nil }

        /// The client's application, as named in `User-Agent`; nil if absent.
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

    public let source: AnswerSource
    public let request: Request
    /// The reader of responses.
    public let response: any ChallengeResponse
    public let connection: any LoginConnection
    /// The login pages; nil if no rule has a form for the origin.
    public let pages: (any LoginPages)?
    public let fetcher: any TokenFetching
    public let metrics: Metrics
    /// The probe that this request makes at the challenger; nil for other requests.
    public var probe: Evidence.Probe?

    /// - Parameter connection: the connection that the request is sent on, and its response comes on.
    public init(
        source: AnswerSource, request: Request, connection: any ChallengeResponse & LoginConnection,
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

    /// Returns the terms for logging in connections, by the rule that gives the answer.
    ///
    /// - Parameter failures: the number of refused answers of this request so far.
    func loginTerms(for answer: Answer, failures: Int) -> LoginTerms {
        let rule = delegate.rule(for: answer.space, failures: failures)
        let terms = rule.terms
        var login = LoginTerms(
            servicePrincipal: terms?.servicePrincipal, delegates: terms?.delegates ?? false,
            canonicalises: terms?.canonicalises ?? false, patience: policy.timeouts.connect)
        let (accounts, credential, owner) = (spaces.accounts, answer.credential, source.owner(of: answer.credential))
        let retry = Evidence.RetryTerms(retry: rule.retry)
        login.admission = { kdc, limit throws(TicketError) in
            let evidence = accounts.evidence(of: credential, at: kdc, broughtBy: owner)
            return try await KDCAdmission(by: evidence, under: retry, within: limit)
        }
        return login
    }

    /// The challenges of a response that can be answered, in the order in which they are tried.
    ///
    /// - Parameter failures: the number of refused answers of this request so far.
    public func offers(in challenges: [HeaderChallenge], failures: Int) -> [Offer] {
        // The client answers itself.
        if source.terms.keepsAuthorization { return [] }
        return policy.rules.offers(
            in: challenges, from: challenger.origin, client: delegate.client, failures: failures, order: policy.order
        ).offers
    }

    /// Asks the account of the answer's credential whether it may be sent.
    func admit(_ answer: Answer) -> Evidence.Admission {
        let target = request.target
        return source.evidence(of: answer.credential).admit(
            target.readable, under: source.retryTerms(for: answer.space), now: loop.wallTime)
    }

    /// Remembers an answer that was accepted after a challenge: it is preemptive from now on.
    public func remember(_ authenticator: any Authenticator, for answer: Answer) {
        let target = request.target
        // The target of a preemptive answer is not learned, and other processes need not know it.
        let isLasting = !answer.isPreemptive && source.isLasting(answer)
        spaces.remember(authenticator, for: answer, isLasting: isLasting)
        if answer.isPreemptive { return }
        if authenticator.extent.coverage(of: target.readable) == nil {
            spaces.extend(answer.space, to: target.readable, isLasting: isLasting)
        }
        if request.record.rule != nil { source.keep(answer) }
    }

    /// Writes a decision into the request's record. After a refusal the record keeps the rule whose answer was refused, until
    /// another rule answers or ends the request.
    func note(_ ruled: RuleDelegate.DelegateDecision, on challenge: AuthenticationChallenge) {
        let record = request.record
        if challenge.previousFailureCount == 0 || ruled.isEnd { record.note(ruled.rule.rule, about: challenger) }
        record.note(ChallengeDecision(ruled.decision, about: challenge, by: ruled.rule))
        if let error = ruled.trouble {
            record.facts.details = "\(error)"
            // What a program has done is reported once, when it ends.
            if !error.isOfProgram { state.report("\(error)") }
        }
    }

    /// Records in the journal that a challenge was answered.
    ///
    /// - Parameters:
    ///   - ruling: the ruling that led to the answer; nil if this request did not ask the rules.
    ///   - failures: the number of refused answers of this request before it.
    ///   - failure: the excerpt of the response that refused the last of them.
    func noteAnswer(_ answer: Answer, by ruling: RuleDecision?, after failures: Int, _ failure: ResponseExcerpt?) {
        guard let challenge = answer.challenge, !answer.isPreemptive else { return }
        let now = loop.wallTime
        let ruling = ruling ?? delegate.rule(for: answer.space, failures: failures)
        if let latest = challenger.latestNote, latest.covers(answer, by: ruling, of: policy.rules, after: failures),
            latest.note.add(at: now)
        {
            request.record.facts.challenge = latest.note.challenge
            return
        }
        var entry = JournalEntry(JournalEntry.Key(answer.space, scheme: challenge.scheme), .answered, at: now)
        entry.lines = [JournalText.printable("\(challenge)", longest: 512)]
        entry.rule = ruling.rule
        entry.disposition = ruling.action.words
        entry.failures = failures
        entry.note(failure, at: now)
        let name = answer.credential.version.name
        entry.credential = name
        if (try? delegate.configured(name, for: answer.space.origin)) != nil {
            entry.credentials = [name]
        }
        let note = AnsweredEntry(ChallengeRecord(schemes: entry.key.scheme, realm: entry.key.space.realm), at: now)
        state.journal.put([entry], counting: note)
        challenger.latestNote = AnsweredEntry.Latest(
            note, of: answer, by: ruling, of: policy.rules, after: failures)
        request.record.facts.challenge = note.challenge
    }
}

extension HeaderChallenge: CustomStringConvertible {
    /// The challenge as a server might have written it.
    public var description: String {
        let parameters = parameters.map { "\($0.name)=\"\($0.value.span.text)\"" }
        return ([scheme + (token68.map { " \($0)" } ?? "")] + [parameters.joined(separator: ", ")])
            .filter { !$0.isEmpty }.joined(separator: " ")
    }
}
