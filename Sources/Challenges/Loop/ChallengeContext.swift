import Authentication
import Bytes
import Credentials
import IO
import Model
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

extension ChallengeContext {
    /// Writes a decision into the request's record. After a refusal the record keeps the rule whose answer was refused, until
    /// another rule answers or ends the request.
    func note(_ ruled: RuleDelegate.RuledDecision, on challenge: AuthenticationChallenge) {
        let record = request.record
        if challenge.previousFailureCount == 0 || ruled.isEnd { record.note(ruled.rule.rule, about: challenger) }
        record.note(ChallengeDecision(ruled.decision, about: challenge, by: ruled.rule))
        if let error = ruled.trouble {
            record.details = "\(error)"
            state.report("\(error)")
        }
    }
}

extension ChallengeContext {
    /// Writes into the journal that a challenge was answered.
    ///
    /// - Parameters:
    ///   - ruling: the rules' word by which it was; nil: they were not asked by this request.
    ///   - failures: refused answers of this request before it.
    ///   - failure: what the response said that refused the last of them.
    func noteAnswer(_ answer: Answer, by ruling: Ruling?, after failures: Int, _ failure: ResponseExcerpt?) {
        guard let challenge = answer.challenge, !answer.isUnasked else { return }
        let now = loop.epochMilliseconds
        let ruling = ruling ?? delegate.rule(for: answer.space, failures: failures)
        if let latest = challenger.latestNote, latest.covers(answer, by: ruling, of: policy.rules, after: failures),
            latest.note.add(at: now)
        {
            request.record.challenge = latest.note.challenge
            return
        }
        var entry = JournalEntry(JournalEntry.Key(answer.space, scheme: challenge.scheme), .answered, at: now)
        entry.lines = [JournalText.printable("\(challenge)", longest: 512)]
        entry.rule = ruling.rule.map { JournalText.printable("\($0)") }
        entry.disposition = ruling.action.words
        entry.failures = failures
        entry.note(failure, at: now)
        let name = answer.credential.version.name
        entry.credential = name
        if (try? policy.credentials.credential(named: name)) != nil { entry.credentials = [name] }
        let note = AnsweredNote(ChallengeRecord(schemes: entry.key.scheme, realm: entry.key.space.realm), at: now)
        state.journal.put([entry], counting: note)
        challenger.latestNote = AnsweredNote.Latest(
            note, of: answer, by: ruling, of: policy.rules, after: failures)
        request.record.challenge = note.challenge
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
