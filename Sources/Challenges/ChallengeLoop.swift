import Authentication
import Bytes
import Credentials
import Crypto
import HTTP
import IO
import Model
import Rules
import Telemetry

/// Takes one request through its challenges: finds the answer before it is sent, and decides about each response.
///
/// Carries out the steps of `ChallengeTask`: asks the rules and the storage, tells of a refusal, waits for other requests.
public final class ChallengeLoop {
    /// The decision about a response.
    public enum Verdict {
        /// The client gets it; with a word in `Proxy-Status` where the challenge was ours to answer and was not, or where
        /// the origin's proof could not be checked.
        case pass(note: String?)
        /// The request goes out again, with the answer that `authorize` appends.
        case again
        case cancel(ChallengeFailure)
    }

    private let context: ChallengeContext
    private var task: ChallengeTask
    private let performer: AnswerPerformer
    private var trouble = ChallengeTrouble.none
    private var turn = ChallengeTurn()
    /// Whether an answer of this request came back with a challenge.
    private var isDoubted = false

    public init(_ context: ChallengeContext) {
        self.context = context
        task = ChallengeTask(urlCredential: context.source.urlCredential)
        performer = AnswerPerformer(in: context)
    }

    /// For a request that went out with that answer.
    public init(_ context: ChallengeContext, after known: KnownAnswer) {
        self.context = context
        task = ChallengeTask(urlCredential: context.source.urlCredential, preempted: known.answer)
        performer = AnswerPerformer(known.state, in: context)
    }

    private var challenger: Challenger { context.challenger }
    private var request: ChallengedRequest { context.request }
    private var response: any ChallengeResponse { context.response }

    // MARK: - Before the request is sent

    /// Whether the answer to give unasked, or that none is to be given, could be found without waiting.
    public func prepareAtOnce() -> Bool {
        let finding = context.source.find(for: request.target) { context.connection.holdsLogin(with: $0) }
        switch finding {
        case .answer(let prepared, let rule): preempt(with: prepared, by: rule)
        case .open: break
        case .unknown: return false
        }
        return true
    }

    /// Finds the answer to give unasked, or waits for the request that is being challenged for all.
    public func prepare() async {
        if await preempt() || request.isOwn { return }
        let isKnown = await turn.awaitNews(
            of: challenger.origin, target: request.target, in: context.spaces, within: request.waiting,
            on: context.loop)
        if isKnown { _ = await preempt() }
    }

    private func preempt() async -> Bool {
        let finding = await context.source.find(
            for: request.target, fetchingBy: request.isOwn ? nil : context.tokens
        ) { context.connection.holdsLogin(with: $0) }
        guard case .answer(let prepared, let rule) = finding else { return false }
        preempt(with: prepared, by: rule)
        return true
    }

    private func preempt(with prepared: PreparedAnswer, by rule: RuleReference?) {
        task = ChallengeTask(urlCredential: context.source.urlCredential, preempted: prepared.answer)
        take(prepared)
        request.record.note(rule, about: challenger)
    }

    private func take(_ prepared: PreparedAnswer) {
        performer.take(prepared)
        request.record.note(prepared.answer, to: challenger)
    }

    /// The request goes out again, which this server has let pass: the answer of that time is given unasked.
    public func renew() {
        performer.renew()
        task = ChallengeTask(urlCredential: context.source.urlCredential, preempted: performer.answer)
    }

    // MARK: - The answer

    /// The digest of the whole body that the answer needs, if it needs one.
    public var bodyDigest: DigestAlgorithm? { performer.bodyDigest }
    /// The credential whose login the connection must have, or be free for; nil when requests may share it.
    public var loginVersion: CredentialVersion? { performer.loginVersion }
    /// Whether the request goes out without its body, since its answer can only bring the next challenge.
    public var omitsBody: Bool { performer.omitsBody }
    /// Whether the answer stands in `Cookie`, beside the client's own cookies.
    public var answersByCookies: Bool { performer.session != nil }
    /// The field that the answer stands in.
    public var answerField: StaticString { answersByCookies ? "Cookie" : challenger.fields.answer }
    /// Whether pages have to come in a coding that can be undone.
    public var readsPages: Bool { context.pages?.readsPages ?? false }

    /// Gets ready for the next token of a login that belongs to the connection, which the login claims.
    public func prepareLogin() async {
        do throws(AuthenticationError) {
            try await performer.prepareLogin(failures: task.failureCount)
        } catch {
            trouble = .unmade(error)
            performer.drop()
        }
    }

    /// Appends the value of the field that answers; false when there is none to send.
    public func authorize(
        method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, into value: ByteBuffer
    ) -> Bool {
        do throws(AuthenticationError) {
            let isAnswered = try performer.authorize(
                method: method, target: target, bodyDigest: bodyDigest, into: value)
            // The client's own cookies go out in any case.
            guard isAnswered else { return !value.isEmpty }
        } catch {
            // Without an answer the server says what it wants, and the task goes on from there.
            if loginVersion != nil { trouble = .unmade(error) }
            value.clear()
            performer.drop()
            return false
        }
        request.record.countAnswer(to: challenger)
        if let lease = turn.lease { request.presence.beginTrial(lease) }
        return true
    }

    // MARK: - The response

    /// Judges a response's head; nil when it is a challenge, or its body has to be looked at: that takes its time.
    public func judgeAtOnce() -> Verdict? {
        if isChallenge || performer.mayLackScope || context.pages?.mayBeLogin ?? false { return nil }
        performer.takeCookies(isGood: true)
        let proof = performer.proof(bodyDigest: nil)
        if case .needsBody = proof { return nil }
        return accept(proof)
    }

    /// Judges a response's head.
    public func judge() async -> Verdict {
        var isLoginPage = false
        if let pages = context.pages, pages.mayBeLogin {
            guard let isRecognised = await pages.recognise() else {
                settle(.unanswered)
                return .cancel(.incompletePage)
            }
            isLoginPage = isRecognised
        }
        performer.takeCookies(isGood: !isLoginPage)
        guard isLoginPage || isChallenge else { return await judgeWithBody() }
        return await meetChallenges(onLoginPage: isLoginPage)
    }

    private var isChallenge: Bool { response.status == challenger.fields.status }

    /// Judges a response that is no challenge, with its body where the proof covers that.
    private func judgeWithBody() async -> Verdict {
        let proof = performer.proof(bodyDigest: nil)
        guard case .needsBody(let algorithm) = proof else { return accept(proof) }
        switch await response.digestBody(algorithm) {
        case .whole(let digest): return accept(performer.proof(bodyDigest: digest))
        case .tooLarge:
            guard case .pass = accept(.unverified) else { return .pass(note: nil) }
            return .pass(note: BodyDigest.tooLargeNote)
        case .failed(let failure):
            settle(.unanswered)
            return .cancel(failure)
        }
    }

    private func accept(_ proof: Acceptance?) -> Verdict {
        let (spaces, target) = (context.spaces, request.target)
        if proof == .ignored {
            spaces.markOpen(challenger.origin, target: target.readable)
            if omitsBody, case .sendUnanswered = task.ignored() {
                performer.drop()
                return .again
            }
        }
        let accepted = task.accepted()
        if !response.hasJudged {
            // A server in trouble asks for nothing, and has judged nothing: the next request that waits finds out.
            turn.passOn()
            settle(.open)
            return .pass(note: nil)
        }
        guard let accepted, let prepared = performer.state.prepared, let proof, proof != .ignored else {
            if turn.bringsNews { spaces.markOpen(challenger.origin, target: target.readable) }
            settle(.open)
            return .pass(note: nil)
        }
        if proof == .mismatch {
            settle(.unanswered)
            return .cancel(.unproven(accepted, by: challenger))
        }
        if accepted.challenge != nil { context.remember(prepared.authenticator, for: accepted) }
        settle(.accepted)
        return .pass(note: performer.missingScope)
    }

    /// A request whose client has left is broken off, which is no verdict: the next that waits leads.
    private func settle(_ verdict: Authentication.Verdict) {
        turn.settle(verdict, at: challenger.origin, in: context.spaces, isBrokenOff: request.presence.isOver)
    }

    // MARK: - A challenge

    private func meetChallenges(onLoginPage isLoginPage: Bool) async -> Verdict {
        var challenges = isChallenge ? response.challenges(in: challenger.fields.challenge) : []
        if isLoginPage {
            challenges.append(.loginPage)
            await performer.session?.resolveDoubt(about: performer.state.ticket)
        }
        let round = Round(
            response: AuthenticationChallenge.FailureResponse(
                status: Int(response.status.rawValue), challenges: challenges),
            offers: context.offers(in: challenges, failures: task.failureCount))
        let refusal = countTrouble() ?? refusal(by: challenges)
        context.spaces.markProtected(challenger.origin, target: request.target.readable)
        if performer.answer != nil { isDoubted = true }
        if !isLoginPage { context.source.learning?.sawChallenges(challenges) }
        var action =
            trouble.unmade.map { task.unanswerable(.unanswerable($0)) }
            ?? task.challenged(round.response, offers: round.offers, refusal: refusal)
        while true {
            switch action {
            case .lookUpDefault(let space): action = task.foundDefault(context.source.kept(for: space))
            case .ask(let challenge): action = await ask(challenge)
            case .park(let answer):
                context.state.refuse(
                    answer.credential, for: answer.space, of: context.delegate.client, countedBy: context.metrics,
                    because: trouble.refusal(of: answer, by: challenger))
                action = task.parked()
            case .answer(let answer):
                let reason = await begin(answer)
                guard let next = await goOn(with: answer, unless: reason, after: round) else { return .again }
                action = next
            case .resend(let answer):
                let reason = context.parked(answer)
                guard let next = await goOn(with: answer, unless: reason, after: round) else { return .again }
                action = next
            case .sendUnanswered:
                performer.drop()
                return .again
            case .pass(let reason):
                settle(.unanswered)
                return pass(after: reason, onLoginPage: isLoginPage)
            case .cancel(let reason):
                settle(.unanswered)
                return .cancel(
                    ChallengeFailure(
                        unanswered: trouble.explanation ?? "\(challenger.title) wants a credential, and \(reason)"))
            }
        }
    }

    /// One response's challenges.
    private struct Round {
        let response: AuthenticationChallenge.FailureResponse
        let offers: [Offer]
    }

    private func refusal(by challenges: [HeaderChallenge]) -> RepeatedChallenge? {
        let (refusal, error) = performer.refusal(by: challenges)
        if let error {
            trouble = .counted(error)
            request.record.details = "\(error)"
        }
        return refusal
    }

    /// The meaning of a missing answer for the task; nil where none is missing, or nothing else would help.
    private func countTrouble() -> RepeatedChallenge? {
        guard let refusal = trouble.count() else { return nil }
        request.record.details = trouble.counted.map { "\($0)" }
        return refusal
    }

    private func pass(after reason: PassReason, onLoginPage isLoginPage: Bool) -> Verdict {
        if let sentence = trouble.sentence(instead: reason, of: challenger) {
            return .cancel(ChallengeFailure(unanswered: sentence))
        }
        let note = trouble.note(on: reason)
        if isLoginPage, let note { request.record.details = note }
        return .pass(note: note)
    }

    private func ask(_ challenge: AuthenticationChallenge) async -> ChallengeTask.Action {
        let answer = await context.delegate.decide(challenge)
        request.record.note(answer.rule.rule, about: challenger)
        if let error = answer.trouble {
            request.record.details = "\(error)"
            context.state.report("\(error)")
        }
        do throws(MissingToken) {
            return task.decided(
                try await context.tokens.exchange(answer.decision, for: challenge, isOwn: request.isOwn))
        } catch {
            if case .failed(let details) = error { request.record.details = details }
            trouble = .explained("\(challenger.title) wants a token, and \(error)")
            return task.decided(
                Authentication.Decision(.cancelAuthenticationChallenge, reason: answer.decision.reason))
        }
    }

    // MARK: - The next answer

    /// Makes ready to answer: with the authenticator that the space knows, else as the one request that is judged for all.
    /// - Returns: why it cannot, or nil.
    private func begin(_ answer: Answer) async -> PassReason? {
        performer.drop()
        if turn.lease == nil, answer.credential.persistence != .none, !isProven(answer), await !awaitVerdict(on: answer)
        {
            return .undecided(credential: answer.credential.version.name)
        }
        if let reason = context.parked(answer) { return reason }
        do throws(AuthenticationError) {
            if let known = context.spaces.authenticator(for: answer) {
                take(PreparedAnswer(authenticator: known, answer: answer))
            } else {
                let new = try context.policy.order.authenticator(for: answer, at: request.target.readable)
                take(PreparedAnswer(authenticator: new, answer: answer))
            }
            try await performer.prepareConnections(failures: task.failureCount)
            return nil
        } catch {
            trouble = .unmade(error)
            performer.drop()
            return .unanswerable(error)
        }
    }

    /// Whether no account is at stake: the version was accepted in the space, and this request has not seen it fail.
    private func isProven(_ answer: Answer) -> Bool {
        !isDoubted && context.spaces.hasAccepted(answer.credential.version, in: answer.space)
    }

    private func awaitVerdict(on answer: Answer) async -> Bool {
        await turn.awaitVerdict(
            on: answer, in: context.spaces, within: context.policy.timeouts.connect, on: context.loop)
    }

    /// Sees to it that there is a session to answer with, where the answer belongs to one.
    ///
    /// - Parameter reason: why there can be no answer at all.
    /// - Returns: the task's next step; nil: the request can go out again.
    private func goOn(
        with answer: Answer, unless reason: PassReason?, after round: Round
    ) async -> ChallengeTask.Action? {
        if let reason {
            guard let refusal = countTrouble() else { return task.unanswerable(reason) }
            return task.challenged(round.response, offers: round.offers, refusal: refusal)
        }
        guard let login = performer.session, login.pages != nil else { return nil }
        performer.sawLoginPage = true
        let version = answer.credential.version
        if !login.session.isOpen, turn.lease == nil { _ = await awaitVerdict(on: answer) }
        if login.session.isOpen { return nil }
        if let reason = context.parked(answer) { return task.unanswerable(reason) }
        guard !turn.hasWaitedInVain else { return noSession(version, "another request has just tried") }
        if let lease = turn.lease { request.presence.beginLogin(lease) }
        switch await login.logIn(with: answer.credential) {
        case .loggedIn?:
            // A request that waits for a session that was good before need not wait for this request as well.
            if answer.challenge == nil { settle(.accepted) }
            return nil
        case .refused?:
            context.spaces.forget(version, for: answer.space)
            return task.challenged(round.response, offers: round.offers, refusal: .refused)
        case .failed(let error)?:
            context.state.report(
                "credential \(version.name) is not logged in at \(challenger.origin.host):\(challenger.port): \(error)")
            return noSession(version, "\(error)")
        case nil: return nil
        }
    }

    private func noSession(_ version: CredentialVersion, _ why: String) -> ChallengeTask.Action {
        let sentence = "credential \(version.name) is not logged in: \(why)"
        request.record.details = sentence
        trouble = .explained("\(challenger.title) wants a login, and \(sentence)")
        return .cancel(reason: sentence)
    }
}
