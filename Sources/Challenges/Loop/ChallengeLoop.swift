import Authentication
import Bytes
import Credentials
import Crypto
import HTTP
import IO
import Model
import Rules
import Telemetry

/// Takes one request through its challenges: finds the answer before it is sent, and judges each response.
///
/// It carries out the steps of `ChallengeTask`: asks the rules and the store, reports refusals, waits for other
/// requests. `prepare` and `judge` go as far as they can without waiting; `performWork` does the work that they wait
/// for.
public final class ChallengeLoop {
    /// The state of judging a response.
    private enum Stage {
        /// The response was not looked at. Becomes `.meeting` with a challenge.
        case arrived
        /// The task's next action is due. Becomes `.arrived` with the verdict.
        case meeting(Round, ChallengeTask.Action)
    }

    let context: ChallengeContext
    var task: ChallengeTask
    var preparation: AnswerSetup
    var trouble = Trouble.none
    private var doubt: ExtentDoubt
    private var stage = Stage.arrived
    var work: ChallengeWork?
    /// The source of a `401`, the parent or the origin; `none` for all other responses.
    var parentCheck = ParentCheck.none
    /// The result of `work`, until the next step takes it.
    var outcome: ChallengeWork.Outcome?
    /// The credential that an operator entered for this request; nil if none.
    private var granted: CredentialVersion?
    /// The preemptive answer that is sent once the account of its credential admits it.
    var unproven: (prepared: PreparedAnswer, rule: RuleReference?)?
    /// The latest decision about a challenge of this request; nil if none.
    private var ruled: RuleDelegate.DelegateDecision?
    /// The excerpt of the latest response that refused an answer of this request; nil if none.
    private var latestFailure: ResponseExcerpt?
    /// Whether this request was sent with an answer, and not on a connection that was logged in before.
    private var showsCredential = false
    /// The number of times that an answer came back with a challenge.
    private var renewals = 0
    /// The number of tokens with more scopes that this request was sent with.
    var stepUps = 0
    /// Whether the response wants a token with more scopes, which is about to be fetched.
    var isStepUp = false
    /// A registry's token that was sent before, and that the registry may have ignored; nil if none.
    private var ignoredToken: Credential?
    /// The reason why no token with more scopes was fetched; nil if none was wanted.
    var scopeTrouble: String?
    /// Whether the server has challenged this request before.
    private var hasMet = false
    /// Whether an answer with a used nonce came back without a challenge.
    private var wentForNonce = false
    /// The rule by which an operator rejected a challenge of this request; nil if none.
    private var rejecting: RuleReference?
    /// The sentence for the client if the challenges stay unanswered because an operator rejected one; nil otherwise.
    public private(set) var rejection: String?

    /// - Parameter known: the answer that the request was sent with; nil if it was not sent yet.
    public init(_ context: ChallengeContext, after known: PreemptiveAnswer? = nil) {
        self.context = context
        doubt = ExtentDoubt(in: context)
        task = ChallengeTask(urlCredential: context.source.urlCredential, preempted: known?.answer)
        preparation = AnswerSetup(AnswerSession(known?.state ?? .none, in: context), in: context)
        if let probe = context.probe { preparation.attempt = probe.attempt }
        if let known, known.place > 0, let evidence = known.answer?.evidence {
            let target = context.request.target
            preparation.attempt = Evidence.Attempt(sentAt: known.place, evidence, for: target.readable)
        }
    }

    private var performer: AnswerSession { preparation.performer }
    private var challenger: Challenger { context.challenger }
    private var request: ChallengeContext.Request { context.request }
    private var response: any ChallengeResponse { context.response }

    /// Does the awaited work.
    public func performWork() async {
        guard let work else { return }
        let (trace, start) = (context.request.record.facts.trace, context.loop.now)
        let outcome = await work.perform(for: performer, failures: task.failureCount, in: context)
        trace?.note(work.span, from: start, error: outcome.failure)
        self.outcome = outcome
        self.work = nil
    }

    // MARK: - The answer

    /// The digest of the whole body that the answer needs, if it needs one.
    public var bodyDigest: DigestAlgorithm? { performer.bodyDigest }
    /// The credential whose login the connection must have or be free for; nil if requests may share it.
    public var loginVersion: CredentialVersion? { performer.loginVersion }
    /// Whether the request is sent without its body, because its answer can only bring the next challenge.
    public var omitsBody: Bool { performer.omitsBody }
    /// Whether the answer is in `Cookie`, beside the client's own cookies.
    public var answersByCookies: Bool { performer.session != nil }
    public var failureCount: Int { task.failureCount }
    /// Whether an operator rejected a challenge of this request.
    public var isRejectedByOperator: Bool { rejecting != nil }
    /// Whether the latest request was sent with its own answer.
    public var hasAnswered: Bool { performer.state.ticket != nil }
    /// The field that contains the answer.
    public var answerField: StaticString { answersByCookies ? "Cookie" : challenger.fields.answer }
    /// The places of a preemptive credential; nil if it goes in the usual field.
    public var placement: RequestPlacement? { performer.placement }
    /// Whether pages must come in a coding that can be undone.
    public var readsPages: Bool { context.pages?.readsPages ?? false }

    /// Prepares the next token of a login that belongs to the connection, which the login claims.
    public func prepareLogin() async {
        // The request may have been meant for a connection that was logged in and is now closed.
        if context.connection.login == nil, loginVersion != nil, let answer = performer.answer,
            await !preparation.admits(answer)
        {
            return
        }
        do throws(AuthenticationError) {
            try await performer.prepareLogin(failures: task.failureCount)
        } catch {
            trouble = .unmade(error)
            performer.drop()
        }
    }

    /// Appends the value of the field that answers; false if there is no answer.
    public func authorize(
        method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, into value: ByteBuffer
    ) -> Bool {
        showsCredential = false
        do throws(AuthenticationError) {
            let isAnswered = try performer.authorize(
                method: method, target: target, bodyDigest: bodyDigest, into: value)
            // The client's own cookies are sent in any case.
            guard isAnswered else { return !value.isEmpty }
        } catch {
            // Without an answer the server challenges again, and the task continues from there, unless no nonce would help.
            if loginVersion != nil || error == .bodyDigestNeeded { trouble = .unmade(error) }
            value.clear()
            performer.drop()
            return false
        }
        showsCredential = true
        request.record.countAnswer(to: challenger)
        if let lease = preparation.turn.lease { request.presence.beginTrial(lease) }
        if let attempt = preparation.attempt, attempt.leads { request.presence.beginTrial(attempt) }
        return true
    }

    // MARK: - The response

    /// Judges a response's head.
    /// - Returns: nil where work is to be done first.
    public func judge() -> ChallengeVerdict? {
        if work != nil { return nil }
        if case .arrived = stage, outcome == nil { parentCheck = .none }
        while true {
            let verdict =
                switch stage {
                case .arrived: look(after: outcome.take())
                case .meeting(let round, let action): carryOut(action, round, after: outcome.take())
                }
            if verdict != nil { stage = .arrived }
            if verdict != nil || work != nil { return verdict }
        }
    }

    /// Like `judge`, for a task, which can wait.
    public func judged() async -> ChallengeVerdict {
        while true {
            if let verdict = judge() { return verdict }
            await performWork()
        }
    }

    /// Whether the latest response is a challenge by this server: a `401`, or a parent's `407`, or a `401` of the
    /// parent itself.
    public var isChallenge: Bool {
        response.status == challenger.fields.status
            || response.status == .unauthorized && (request.opensTunnel || parentCheck.isRefused)
    }

    /// Tells a challenge from other responses, which are judged.
    private func look(after outcome: ChallengeWork.Outcome?) -> ChallengeVerdict? {
        switch outcome {
        case .page(isLogin: true)?:
            meetChallenges(onLoginPage: true)
            return nil
        case .page(isLogin: nil)?: return fail(.incompletePage)
        case .digest(let digest)?: return accept(digest)
        case .page?: break
        default:
            if let pages = context.pages, pages.mayBeLogin {
                work = .page(pages)
                return nil
            }
            performer.takeCookies(isGood: true)
        }
        if challenger.isProxy, response.status == .unauthorized, !request.opensTunnel {
            checkParent(after: outcome)
            if work != nil { return nil }
        }
        if stepsUp() {
            preparation.settle(.none)
            meetChallenges(onLoginPage: false)
            return nil
        }
        if isChallenge, scopeTrouble == nil {
            meetChallenges(onLoginPage: false)
            return nil
        }
        if case .undecided = parentCheck {
            preparation.settle(.none)
            settle(.open)
            return .pass(note: nil)
        }
        if doubt.isRaised(about: performer.answer, in: &task) {
            performer.drop()
            return .again
        }
        let proof = performer.proof(bodyDigest: nil)
        guard case .needsBody(let algorithm) = proof else { return accept(proof) }
        work = .digest(algorithm)
        return nil
    }

    /// Judges a response whose body the proof covers.
    private func accept(_ digest: BodyDigest) -> ChallengeVerdict {
        switch digest {
        case .whole(let digest): return accept(performer.proof(bodyDigest: digest))
        case .tooLarge:
            guard case .pass = accept(.unverified) else { return .pass(note: nil) }
            return .pass(note: BodyDigest.tooLargeNote)
        case .failed(let failure): return fail(failure)
        }
    }

    private func accept(_ proof: Acceptance?) -> ChallengeVerdict {
        let (spaces, target) = (context.spaces, request.target)
        if proof == .ignored {
            spaces.markOpen(challenger.origin, target: target.readable)
            if omitsBody, case .sendUnanswered = task.ignored() {
                performer.drop()
                return .again
            }
        }
        let accepted = task.accepted()
        doubt.passed(with: performer.answer)
        if !response.hasJudged {
            // A server in trouble has judged nothing: the next request that waits finds out.
            preparation.settle(.none)
            preparation.turn.passOn()
            settle(.open)
            return .pass(note: nil)
        }
        guard let accepted, let prepared = performer.state.prepared, let proof, proof != .ignored else {
            request.record.note(.unjudged)
            if preparation.turn.bringsNews { spaces.markOpen(challenger.origin, target: target.readable) }
            settle(.open)
            return .pass(note: nil)
        }
        if proof == .mismatch {
            request.record.note(.unproven)
            preparation.settle(.none)
            return fail(.unproven(accepted, by: challenger.title))
        }
        if accepted.challenge != nil {
            context.remember(prepared.authenticator, for: accepted)
            context.noteAnswer(accepted, by: ruled?.rule, after: task.failureCount, latestFailure)
        }
        if let companion = performer.companion { context.remember(companion.authenticator, for: companion.answer) }
        if let granted, granted == accepted.credential.version { context.source.keepForLater(accepted) }
        if !accepted.isPreemptive || response.status.rawValue < 400 {
            spaces.readmit(target.readable, to: accepted.space)
            let evidence = context.source.evidence(of: accepted.credential)
            evidence.noteAccepted(target.readable)
            if accepted.space.authenticationMethod == .negotiate {
                // The server accepted a ticket, which proves nothing about the password.
                evidence.noteTicket(now: context.loop.wallTime)
                preparation.settle(.abandoned)
            } else if performer.loginVersion != nil, !showsCredential {
                // The connection was logged in before, perhaps with a password that is no longer valid.
                preparation.settle(.abandoned)
            } else {
                preparation.settle(.accepted)
                tellHelper(.accepted, of: accepted)
            }
        }
        settle(.accepted)
        // The same password is accepted with its own nonce.
        if wentForNonce { preparation.noteUsedUp() }
        request.record.note(.accepted)
        return .pass(note: lacksScope ? performer.missingScope(because: scopeTrouble ?? fixedScopes) : nil)
    }

    private func fail(_ failure: ChallengeFailure) -> ChallengeVerdict {
        settle(.unanswered)
        return .cancel(failure)
    }

    /// Settles the turn. A cancelled request gives no verdict; the next waiter becomes the leader.
    private func settle(_ verdict: FlightLease.Verdict) {
        preparation.endNonce()
        preparation.turn.settle(
            verdict, at: challenger.origin, in: context.spaces, isBrokenOff: request.presence.isOver)
    }

    // MARK: - A challenge

    private func meetChallenges(onLoginPage isLoginPage: Bool) {
        var challenges = isChallenge || isStepUp ? response.challenges(in: challenger.fields) : []
        if isLoginPage { challenges.append(.loginPage) }
        var offers = context.offers(in: challenges, failures: task.failureCount)
        if isChallenge, !offers.contains(where: { $0.space.authenticationMethod != .other }),
            let offer = context.source.preemptiveOffer()
        {
            challenges.append(offer.challenge)
            offers.insert(offer, at: 0)
        } else if isChallenge, challenges.isEmpty, !hasMet, let assumed = assumedOffer() {
            switch assumed {
            case .success(let offer): (challenges, offers) = ([offer.challenge], [offer])
            case .failure(let error): trouble = .tokenless("\(error)", isTransient: error.isTransient)
            }
        }
        if isChallenge, offers.isEmpty { noteUnreadPreemptive() }
        hasMet = true
        var failure = AuthenticationChallenge.FailureResponse(challenges: challenges)
        let isIgnored = mayHaveIgnoredToken(challenges)
        if isIgnored {
            ignoredToken = performer.answer?.credential
            offers = []
        }
        // The token is valid: it counts as renewed, and not as refused.
        let refusal =
            isStepUp || isIgnored
            ? .renewed
            : trouble.count(in: request.record) ?? trouble.refusal(by: challenges, of: performer, in: request.record)
        let isOfScopes =
            performer.answer?.credential.registryScopes != nil && (refusal == .renewed || refusal == .denied)
        if isOfScopes { preparation.settle(.none) }
        if let sentence = missingRight(in: challenges, after: refusal) { trouble = .tokenless(sentence) }
        failure.excerpt = performer.excerpt(after: refusal)
        latestFailure = failure.excerpt ?? latestFailure
        let round = Round(response: failure, offers: offers, isLoginPage: isLoginPage)
        request.record.meet(after: performer.answer == nil ? nil : refusal.map { AnswerResult($0) })
        context.spaces.markProtected(challenger.origin, target: request.target.readable)
        if !isIgnored { doubt.met(challenges, with: performer.answer) }
        // A new nonce without `stale` may also be a refusal. A nonce that is stale at once has served another request.
        let isStale = challenges.contains { $0.text("stale")?.lowercased() == "true" }
        if performer.answer != nil, !isOfScopes {
            renewals += 1
            if refusal != .renewed || !isStale || renewals > 1 { preparation.isDoubted = true }
            if refusal == .renewed || refusal == .retry, isStale || renewals > 1 { preparation.noteUsedUp() }
        }
        if !isLoginPage { context.source.learning?.sawChallenges(challenges) }
        stage = .meeting(
            round,
            trouble.unmade.map { task.unanswerable(.unanswerable($0)) }
                ?? task.challenged(round.response, offers: round.offers, refusal: refusal))
    }

    /// Carries out the task's action, and continues with the next one.
    /// - Returns: nil if work must be done first, or another action follows.
    private func carryOut(
        _ action: ChallengeTask.Action, _ round: Round, after outcome: ChallengeWork.Outcome?
    ) -> ChallengeVerdict? {
        var next: ChallengeTask.Action?
        switch action {
        case .lookUpDefault(let space): next = task.foundDefault(context.source.kept(for: space))
        case .ask(let challenge): next = ask(challenge, after: outcome)
        case .reread(let answer): next = reread(answer, round, after: outcome)
        case .park(let answer):
            // The principal has reported a KDC's refusal to the account; the account knows nothing about a ticket.
            if answer.space.authenticationMethod != .negotiate, !parentCheck.isRefused {
                preparation.refuse(
                    answer, because: "was refused by \(challenger.origin.host):\(challenger.port)")
            }
            tellHelper(.refused, of: answer)
            context.state.refuse(
                answer.credential, in: answer.space, of: context.delegate.client, countedBy: context.metrics)
            next = task.parked()
        case .answer(let answer):
            if let ruled { request.record.note(ruled.rule.rule, about: challenger) }
            next = goOn(to: preparation.begin(answer, after: outcome), round)
        case .resend(let answer): next = goOn(to: preparation.beginSession(for: answer, after: outcome), round)
        case .sendUnanswered:
            wentForNonce = performer.answer?.space.authenticationMethod == .digest && round.offers.isEmpty
            doubt.drop(performer.answer)
            // The answer with its own nonce is a new one, and counts. A leader's answer counts already.
            if preparation.attempt?.leads == false { preparation.settle(.none) }
            performer.drop()
            return .again
        case .pass(let reason):
            settle(.unanswered)
            if case .rejected = reason { rejection = rejecting.map(UnansweredReason.rejection) }
            return trouble.verdict(on: reason, of: challenger, onLoginPage: round.isLoginPage, in: request.record)
        case .cancel(let reason):
            return fail(
                ChallengeFailure(
                    unanswered: trouble.explanation ?? "\(challenger.title) asks for a login, but \(reason)",
                    isTransient: trouble.isTransient))
        }
        if let next {
            stage = .meeting(round, next)
            return nil
        }
        return work == nil ? .again : nil
    }

    /// The challenges of one response. A class, because each step of the task uses it.
    private final class Round {
        let response: AuthenticationChallenge.FailureResponse
        let offers: [Offer]
        let isLoginPage: Bool

        init(response: AuthenticationChallenge.FailureResponse, offers: [Offer], isLoginPage: Bool) {
            self.response = response
            self.offers = offers
            self.isLoginPage = isLoginPage
        }
    }

    /// - Returns: nil if work must be done first.
    private func reread(
        _ answer: Answer, _ round: Round, after outcome: ChallengeWork.Outcome?
    ) -> ChallengeTask.Action? {
        let isFresh = outcome?.isReading ?? false
        if context.probe != nil { return task.reread(.unchanged) }
        if let value = context.source.reread(answer, isFresh: isFresh) { return task.reread(value) }
        work = source(of: answer, challenges: round.response.challenges)
        return work == nil ? task.reread(.unchanged) : nil
    }

    /// - Returns: nil if work must be done first.
    private func ask(
        _ challenge: AuthenticationChallenge, after outcome: ChallengeWork.Outcome?
    ) -> ChallengeTask.Action? {
        if let probe = context.probe { return task.decided(probe.decision(about: challenge)) }
        let rule = context.delegate.rule(for: challenge)
        var word: OperatorAnswer?
        var given: Credential?
        switch outcome {
        case .question(.success(let answer))?: word = answer
        case .question(.failure(let error))?:
            let decision = Decision(.cancelAuthenticationChallenge, reason: error.reason)
            request.record.note(ChallengeDecision(decision, about: challenge, by: rule))
            return task.decided(decision)
        case .exchange(.success(let decision), _)?: return task.decided(decision)
        case .exchange(.failure(let error), let reason)?: return exchanged(error, reason)
        case .helper(.failure(let error))?: return task.decided(unread(error, on: challenge, by: rule))
        case .helper(.success(let credential))?: given = credential
        case .credentials?: break
        default:
            if var subject = context.delegate.question(about: challenge, by: rule), !request.isOwn {
                subject.response = challenge.failureResponse?.excerpt ?? performer.excerpt
                subject.note(request.target.readable, by: request.application())
                work = .question(subject)
                return nil
            }
            work = sources(for: challenge, by: rule)
            if work != nil { return nil }
        }
        let ruled =
            word.map { context.delegate.decide(by: $0, in: challenge.protectionSpace, rule) }
            ?? given.map { context.delegate.use($0, by: rule) }
            ?? context.delegate.decide(challenge, by: rule, at: context.loop.wallTime)
        if case .password? = word?.act, case .useCredential(let credential) = ruled.decision.disposition {
            granted = credential.version
        }
        self.ruled = ruled
        if ruled.isRejectedByOperator { rejecting = ruled.rule.rule }
        context.note(ruled, on: challenge)
        noteUnread(ruled)
        let decision = registryDecision(ruled.decision, on: challenge, trouble: &trouble)
        guard TokenSupply.isWanted(by: decision, on: challenge) else { return task.decided(decision) }
        work = .exchange(decision, challenge, besides: ignoredToken)
        return nil
    }

    /// Continues by the state of the preparation.
    /// - Returns: the task's next action; nil if the request can be sent again, after its work if any.
    private func goOn(to readiness: AnswerSetup.Readiness, _ round: Round) -> ChallengeTask.Action? {
        switch readiness {
        case .ready: return nil
        case .awaits(let work):
            self.work = work
            return nil
        case .unmade(let error):
            trouble = .unmade(error)
            guard let refusal = trouble.count(in: request.record) else {
                return task.unanswerable(.unanswerable(error))
            }
            return task.challenged(round.response, offers: round.offers, refusal: refusal)
        case .unanswerable(let reason): return task.unanswerable(reason)
        case .parked(let pause):
            trouble.noteVerdict()
            return task.heldBack(round.response, offers: round.offers, for: pause)
        case .loggedIn(let answer):
            // A request that waits for a session that was valid before need not wait for this request too.
            if answer.challenge == nil { settle(.accepted) }
            return nil
        case .refused: return task.challenged(round.response, offers: round.offers, refusal: .refused)
        case .noSession(let sentence):
            request.record.facts.details = sentence
            trouble = .explained("\(challenger.title) asks for a login, but \(sentence)")
            return .cancel(reason: sentence)
        }
    }

    // MARK: - The preemptive answer

    /// Finds the preemptive answer; waits for the leader of a single flight.
    ///
    /// - Parameter finding: the result of an earlier search; nil to search now.
    /// - Returns: whether the answer is known; if false, work must be done first.
    public func prepare(with finding: AnswerSource.Finding? = nil) -> Bool {
        if work != nil { return false }
        if let probe = context.probe {
            if let prepared = context.source.preemptiveAnswer(with: probe.credential, at: context.request.target) {
                preempt(with: prepared, by: nil)
                preparation.attempt = probe.attempt
            }
            return true
        }
        var (mayFetch, token) = (!context.request.isOwn, Credential?.none)
        var mayAsk = true
        switch outcome.take() {
        case .news(let outcome)?: preparation.turn.hearNews(outcome)
        case .token(let fetched)?: (mayFetch, token) = (false, fetched)
        case .helper?: mayAsk = false
        case .verdict(let outcome)?: if !preparation.turn.hearVerdict(outcome) { return true }
        // The credential has another value by now, which the next search finds.
        case .admission(.refused(.superseded, _)?)?: break
        case .admission(let admission)?:
            takeUnproven(admission)
            return true
        default: break
        }
        switch finding ?? find(with: token) {
        case .answer(let prepared, let rule): if preparation.mayPreempt(prepared) { preempt(with: prepared, by: rule) }
        case .unproven(let prepared, let rule):
            unproven = (prepared, rule)
            switch context.admit(prepared.answer) {
            case .wait(let waiter): work = .admission(waiter)
            case let admission: takeUnproven(admission)
            }
        case .open, .answeredWhenAsked, .unusable: break
        case .awaitsToken(let wanted) where mayFetch: work = .token(wanted)
        case .awaitsHelper(let question) where mayAsk: work = .helper(question)
        case .awaitsToken, .awaitsHelper, .unknown:
            if context.request.isOwn { break }
            let (origin, target) = (context.challenger.origin, context.request.target)
            work = preparation.turn.seekNews(of: origin, target: target, in: context.spaces).map { .news($0) }
        }
        return work == nil
    }

    /// Prepares to resend the request with the answer that this server accepted before.
    public func renew() {
        preparation.performer.renew()
        task = ChallengeTask(urlCredential: context.source.urlCredential, preempted: preparation.performer.answer)
    }

    private func find(with token: Credential?) -> AnswerSource.Finding {
        context.source.find(for: context.request.target, with: token) { context.connection.holdsLogin(with: $0) }
    }

    /// Finds the preemptive answer for a task, which can wait.
    public func prepared() async { while !prepare() { await performWork() } }

    private func preempt(with prepared: PreparedAnswer, by rule: RuleReference?) {
        task = ChallengeTask(urlCredential: context.source.urlCredential, preempted: prepared.answer)
        preparation.take(prepared)
        context.request.record.note(rule, about: context.challenger)
    }

    /// Handles the decision of the answer's account. If the account refuses, the request is sent without the answer,
    /// and is challenged.
    private func takeUnproven(_ admission: Evidence.Admission?) {
        guard let (prepared, rule) = unproven, case .send(let attempt)? = admission else { return }
        if preparation.mayPreempt(prepared) { preempt(with: prepared, by: rule) }
        preparation.attempt = attempt
    }

    // MARK: - The parts that the journal needs of a request that was not answered

    /// The spaces that refused an answer, with the refused versions, the latest last.
    public var refusals: [(space: ProtectionSpace, version: CredentialVersion)] { task.refusals }

    /// Has the mask hide the answer that the request was sent with.
    public func hideAnswer(in mask: inout EchoMask) { preparation.performer.hideAnswer(in: &mask) }
}
