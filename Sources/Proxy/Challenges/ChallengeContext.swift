import Authentication
import Bytes
import IO
import Rules
import Telemetry

/// The request whose challenges are met.
struct ChallengedRequest {
    /// The request target as the challenger sees it.
    let target: ByteBuffer
    let hasBody: Bool
    /// Whether no client asks. A client's request may wait for this one, so it waits for none of them.
    let isOwn: Bool
    let record: ExchangeRecord
    let presence: any RequestPresence
    let waiting: WaitingTime
}

/// All that one request's challenges are met with. Nothing here changes while the request is under way, but the objects that
/// it is made of do.
struct ChallengeContext {
    let source: AnswerSource
    let request: ChallengedRequest
    /// Where the responses are read.
    let response: any ChallengeResponse
    let connection: any LoginConnection
    /// Nil where no rule has a form for the origin.
    let pages: (any LoginPages)?
    let fetcher: any TokenFetching
    let metrics: Metrics

    var loop: EventLoop { source.loop }
    var delegate: RuleDelegate { source.delegate }
    var challenger: Challenger { source.challenger }
    var policy: ChallengePolicy { delegate.policy }
    var state: ChallengeState { delegate.state }
    var spaces: ProtectionSpaces { state.spaces }

    var tokens: TokenSupply {
        TokenSupply(state: state, timeouts: policy.timeouts, loop: loop, fetcher: fetcher)
    }

    /// How the rule that answers the space wants connections logged in.
    ///
    /// - Parameter failures: refused answers of this request so far.
    func loginTerms(for space: ProtectionSpace, failures: Int) -> LoginTerms {
        let terms = delegate.rule(for: space, failures: failures).terms
        return LoginTerms(
            servicePrincipal: terms?.servicePrincipal, delegates: terms?.delegates ?? false,
            canonicalises: terms?.canonicalises ?? false, patience: policy.timeouts.connect)
    }

    /// The challenges of a response that can be answered, in the order in which they are tried.
    ///
    /// - Parameter failures: as above.
    func offers(in challenges: [HeaderChallenge], failures: Int) -> [Offer] {
        policy.rules.offers(
            in: challenges, from: challenger.origin, client: delegate.client, failures: failures, order: policy.order
        ).offers
    }

    /// Why the answer is not sent: nobody sends a version that was refused, whoever found that out. Nil: it may be sent.
    func parked(_ answer: Answer) -> PassReason? {
        let (version, known) = (answer.credential.version, spaces.parked)
        guard known.contains(version, for: answer.space) || known.contains(version, at: challenger.sharesAccountsWith)
        else { return nil }
        metrics.add(to: .credentialsParked)
        return .parked(credential: version.name)
    }

    /// Keeps an answer that was accepted after a challenge: from now on it is given unasked.
    func remember(_ authenticator: any Authenticator, for answer: Answer) {
        let target = request.target
        let isLasting = source.isLasting(answer)
        spaces.remember(authenticator, for: answer, isLasting: isLasting)
        if authenticator.extent.coverage(of: target.readable) == nil {
            spaces.extend(answer.space, to: target.readable, isLasting: isLasting)
        }
        if request.record.ruleLine > 0 { source.keep(answer) }
    }
}
