import Bytes
import Model

/// The course of one request through its challenges. It asks the delegate, sends an answer and counts a refusal, until
/// the request succeeds or must stop. A machine without I/O: the caller performs each action and reports the event that
/// the action names.
///
///     challenged ─▶ reread ─reread─▶ park ─parked─┐
///          │                                      ▼
///          └───────────▶ [lookUpDefault ─foundDefault─▶] ask ─decided─▶ answer ─▶ challenged, or accepted
///
/// A refusal is only the server's verdict on an answer to a challenge of this request. A preemptive answer that
/// gets a challenge proves nothing: the request is sent once without it, and then as if no space were known.
///
/// One request may get several `401`s: an unknown space, a stale nonce, a refusal. The count of failures includes all
/// of them, over all schemes, because the schemes share one user account. So a refused version of a credential is not
/// sent again in another scheme.
///
/// A refused answer makes the task ask the delegate about each of the response's challenges again, in order. If the
/// delegate names a refused credential, or has none left, the task asks about the next challenge.
public struct ChallengeTask: Sendable {
    private enum State {
        /// The request was sent, with an answer or without. Becomes `rereading` when the answer is refused, `lookingUp`
        /// or `asking` when challenged, `finished` when accepted or when nothing can be done.
        case awaitingResponse(Answer?)
        /// The source of a refused credential is read again. Becomes `awaitingResponse` with another value or without
        /// an answer, else `parking`.
        case rereading(Round, Answer)
        /// A refusal is reported to the other requests. Becomes `lookingUp` or `asking`.
        case parking(Round)
        /// The storage is asked for a credential to propose. Becomes `asking`. After a decision for default handling
        /// the storage is asked for a credential to answer with. Then it becomes `awaitingResponse`, or continues with
        /// the next challenge.
        case lookingUp(Round, for: Decision? = nil)
        /// The delegate was asked about a challenge. Becomes `awaitingResponse` with an answer, `lookingUp` or `asking` for
        /// the next challenge, or `finished`.
        case asking(Round, proposed: Credential?)
        /// The challenges of this request are finished.
        case finished
    }

    private var state: State
    /// The history is outside the state, since every state needs it and each step changes it.
    private var history: History

    /// The caller's next step, with the event to report afterwards.
    public enum Action: Sendable {
        /// Ask the storage for the space's default; report `foundDefault`.
        case lookUpDefault(ProtectionSpace)
        /// Ask the delegate; report `decided` or `withheld`.
        case ask(AuthenticationChallenge)
        /// Send the request with this answer, unless the credential is parked for the space; report `challenged`,
        /// `accepted`, `heldBack` or `unanswerable`.
        case answer(Answer)
        /// Send the request again with the same authenticator, whose challenge moved on; report as after `answer`.
        case resend(Answer)
        /// Send the request without an answer; report as after `answer`.
        case sendUnanswered
        /// Read the credential's source again; report `reread`.
        case reread(Answer)
        /// Report the refusal to other requests: the space refused this version of the credential; then report
        /// `parked`.
        case park(Answer)
        /// Pass the response to the client.
        case pass(PassReason)
        /// Fail the request; the text names the rule.
        case cancel(reason: String)
    }

    // The limits of one request are far above the needs of well-behaved servers.

    /// The limit of consecutive answers that were neither refused nor accepted.
    private static let retryLimit = 4
    /// The limit of all answers.
    private static let answerLimit = 8
    /// The limit of questions to the delegate.
    private static let questionLimit = 32

    /// The challenges of one response, and the index of the current one.
    private struct Round {
        /// The response; nil for a challenge of TLS.
        let response: AuthenticationChallenge.FailureResponse?
        let offers: [Offer]
        var index = 0

        /// Whether the response can be a verdict on the answer. For a preemptive answer it is one if the server asks
        /// for the same answer again, which a nonce would change, or if it refuses without a challenge.
        func judges(_ answer: Answer) -> Bool {
            if let challenge = answer.challenge, challenge != .preemptive { return true }
            let method = answer.space.authenticationMethod
            return offers.contains { offer in
                if offer.challenge == .preemptive { return answer.isPreemptive }
                guard !method.traits.needsChallenge else { return false }
                return answer.isPreemptive
                    ? offer.space.authenticationMethod == method : offer.space == answer.space
            }
        }
    }

    /// - Parameters:
    ///   - urlCredential: the credential in the request's URL, `http://user:password@host/`.
    ///   - preempted: the answer that the request was first sent with, if its space was known.
    public init(urlCredential: Credential? = nil, preempted: Answer? = nil) {
        state = .awaitingResponse(preempted)
        history = History(urlCredential: urlCredential)
    }

    /// Handles a `401`, a parent's `407`, or a server that requests a certificate or has refused one.
    ///
    /// - Parameters:
    ///   - response: nil for a challenge of TLS.
    ///   - refusal: the authenticator's verdict; nil if no answer was sent.
    public mutating func challenged(
        _ response: AuthenticationChallenge.FailureResponse?, offers: [Offer], refusal: RepeatedChallenge?
    ) -> Action {
        guard case .awaitingResponse(let answer) = state else { return outOfTurn() }
        if let method = answer?.space.authenticationMethod {
            switch refusal {
            case .aborted?: history.ended.append((method, .aborted(method)))
            case .denied?: history.ended.append((method, .denied(method)))
            default: break
            }
        }
        let round = Round(response: response, offers: history.helpful(among: offers))
        if let answer, let refusal, offers.isEmpty, !history.wentBare, mayHaveComeTooLate(answer, refusal) {
            return sendBare()
        }
        switch (answer, refusal) {
        case (let answer?, nil):
            if answer.challenge != nil { history.takeBack() }
            return consider(round)
        case (nil, _), (_?, .renewed), (_?, .aborted), (_?, .denied): return consider(round)
        case (let answer?, .retry), (let answer?, .proceed):
            history.retries += 1
            guard history.retries <= Self.retryLimit else { return finish(.pass(.endless)) }
            state = .awaitingResponse(answer)
            return .resend(answer)
        case (let answer?, .unrelated) where answer.challenge == nil || answer.isPreemptive:
            return consider(round)
        case (let answer?, .refused), (let answer?, .unrelated):
            // The space that was answered is the one that challenged this request. Another name, or none, does not make
            // the password valid, and the account's lock counts the refusal.
            state = .rereading(round, answer)
            return .reread(answer)
        }
    }

    /// Whether a response without a challenge may refuse an answer that was valid for an earlier request: a nonce was
    /// used, or a session has ended. Without an answer the server says what it needs.
    private func mayHaveComeTooLate(_ answer: Answer, _ refusal: RepeatedChallenge) -> Bool {
        guard answer.space.authenticationMethod.traits.answersRequests, !answer.isPreemptive else { return false }
        return refusal == .renewed || refusal == .unrelated && answer.challenge == nil
    }

    private mutating func sendBare() -> Action {
        history.wentBare = true
        state = .awaitingResponse(nil)
        return .sendUnanswered
    }

    /// The value of a refused credential, read again.
    public enum Reread {
        case unchanged
        /// The credential counts as one more attempt, but not as a refusal.
        case newer(Credential)
        /// A token, which is fetched again after a refusal, even one of a preemptive answer.
        case fetched
    }

    /// Handles the value of a refused credential that was read again.
    public mutating func reread(_ value: Reread) -> Action {
        guard case .rereading(var round, let answer) = state else { return outOfTurn() }
        if case .newer(let newer) = value, !history.hasRefused(newer) {
            guard let index = round.offers.firstIndex(where: { $0.space == answer.space }) else {
                return consider(round)
            }
            round.index = index
            return self.answer(round, with: newer.with(answer.credential.persistence))
        }
        var isJudged = round.judges(answer) || !answer.space.authenticationMethod.traits.answersRequests
        if case .fetched = value { isJudged = true }
        if !isJudged {
            return history.wentBare ? consider(round) : sendBare()
        }
        history.noteRefusal(of: answer)
        state = .parking(round)
        return .park(answer)
    }

    /// Handles an answer that was not sent because its credential is parked: it counts as refused.
    ///
    /// - Parameters:
    ///   - response: the response whose challenge was to be answered; nil for a challenge of TLS.
    ///   - offers: the challenges of the response.
    ///   - pause: the time until the credential is tried again; nil: not until its value is set again.
    public mutating func heldBack(
        _ response: AuthenticationChallenge.FailureResponse?, offers: [Offer], for pause: Milliseconds? = nil
    ) -> Action {
        guard case .awaitingResponse(let answer?) = state else { return outOfTurn() }
        history.noteRefusal(of: answer, known: .parked(credential: answer.credential.version.name, pause: pause))
        return consider(Round(response: response, offers: offers))
    }

    /// Handles a grant as the delegate's credential that its token endpoint has refused: it counts as refused.
    ///
    /// - Parameter pause: the time until the next try; nil: not known.
    public mutating func withheld(_ credential: Credential, for pause: Milliseconds? = nil) -> Action {
        guard case .asking(let round, _) = state, round.offers.indices.contains(round.index) else { return outOfTurn() }
        let offer = round.offers[round.index]
        history.noteRefusal(
            of: Answer(space: offer.space, challenge: offer.challenge, credential: credential),
            known: .parked(credential: credential.version.name, pause: pause))
        return consider(round)
    }

    /// Handles the end of the report to other requests.
    public mutating func parked() -> Action {
        guard case .parking(let round) = state else { return outOfTurn() }
        return consider(round)
    }

    /// Handles the storage's answer.
    public mutating func foundDefault(_ credential: Credential?) -> Action {
        guard case .lookingUp(let round, let decision) = state else { return outOfTurn() }
        let isOpen = credential.map { !history.hasRefused($0) } ?? false
        guard let decision else {
            return ask(round, proposing: isOpen ? credential : history.latest?.credential ?? credential)
        }
        guard isOpen, let credential else { return goOn(from: round, after: .defaultHandling(reason: decision.reason)) }
        return answer(round, with: credential, by: decision)
    }

    /// Handles the delegate's decision.
    public mutating func decided(_ decision: Decision) -> Action {
        guard case .asking(var round, let proposed) = state else { return outOfTurn() }
        history.lastReason = decision.reason
        if let report = decision.report { return finish(.pass(.reported(answer: report, reason: decision.reason))) }
        switch decision.disposition {
        case .cancelAuthenticationChallenge:
            return finish(.cancel(reason: decision.reason))
        case .rejectProtectionSpace:
            round.index += 1
            return consider(round)
        case .performDefaultHandling:
            guard let proposed else { return goOn(from: round, after: .defaultHandling(reason: decision.reason)) }
            if !history.hasRefused(proposed) { return answer(round, with: proposed, by: decision) }
            return lookUp(round, for: decision)
        case .useCredential(let credential):
            if let reason = history.reasonAgainst(credential, by: decision) {
                return goOn(from: round, after: reason, about: credential)
            }
            return answer(round, with: credential, by: decision)
        }
    }

    /// Handles an answer that could not be sent: the credential is parked, or the scheme cannot use it.
    public mutating func unanswerable(_ reason: PassReason) -> Action {
        guard case .awaitingResponse = state else { return outOfTurn() }
        return finish(.pass(reason))
    }

    /// Handles a response without a challenge. Returns the answer that it accepts, if one was sent, for the space to
    /// remember.
    public mutating func accepted() -> Answer? {
        guard case .awaitingResponse(let answer) = state else { return nil }
        state = .finished
        return answer
    }

    /// Handles a response without a challenge to a request that was sent without its body because of the handshake. The
    /// request must be sent again, with the body and without an answer. If the server ignores that and challenges
    /// again, the request ends.
    public mutating func ignored() -> Action {
        guard case .awaitingResponse = state else { return outOfTurn() }
        guard !history.isIgnored else { return finish(.pass(.endless)) }
        history.isIgnored = true
        state = .awaitingResponse(nil)
        return .sendUnanswered
    }

    /// Handles a 400 or a 403, which may be caused by the preemptive answer.
    /// - Returns: nil if the response stays valid.
    public mutating func doubted() -> Action? {
        guard case .awaitingResponse(let answer?) = state, answer.challenge == nil, !history.wentBare,
            answer.space.authenticationMethod.traits.answersRequests
        else { return nil }
        return sendBare()
    }

    /// Whether the request was not yet sent without the answer that it has.
    public var maySendBare: Bool {
        if case .awaitingResponse(_?) = state { !history.wentBare } else { false }
    }

    /// Whether the challenges of this request are finished.
    public var isFinished: Bool { if case .finished = state { true } else { false } }

    /// The number of definite refusals so far.
    public var failureCount: Int { history.failures }

    /// The spaces that refused an answer, each with the refused version, the latest last.
    public var refusals: [(space: ProtectionSpace, version: CredentialVersion)] {
        history.refusals.map { ($0.space, $0.credential.version) }
    }

    /// Begins with the round's next challenge, and finds the credential to propose: the one that was just refused in an
    /// answer to such a challenge, the URL's, else the storage's.
    private mutating func consider(_ round: Round) -> Action {
        guard round.index < round.offers.count else {
            // That a challenge has no rule explains nothing if another method was tried.
            if let end = history.end { return finish(.pass(end)) }
            return finish(.pass(round.offers.isEmpty ? .nothingToAnswer : .rejected(reason: history.lastReason)))
        }
        let method = round.offers[round.index].space.authenticationMethod
        if let latest = history.latest, latest.space.authenticationMethod == method {
            return ask(round, proposing: latest.credential)
        }
        return lookUp(round)
    }

    /// Finds a credential for the round's challenge that was not refused: the URL's, else the storage's.
    ///
    /// - Parameter decision: the delegate's decision, if the credential is to answer; nil: it is proposed to the
    ///   delegate.
    private mutating func lookUp(_ round: Round, for decision: Decision? = nil) -> Action {
        if let credential = history.urlCredential, !history.hasRefused(credential) {
            guard let decision else { return ask(round, proposing: credential) }
            return answer(round, with: credential, by: decision)
        }
        state = .lookingUp(round, for: decision)
        return .lookUpDefault(round.offers[round.index].space)
    }

    /// Continues with the response's next challenge, since this one is not answered for that reason.
    ///
    /// - Parameter refused: the credential that was refused, if that is the reason.
    private mutating func goOn(from round: Round, after reason: PassReason, about refused: Credential? = nil) -> Action
    {
        history.note(reason, about: refused)
        var round = round
        round.index += 1
        return consider(round)
    }

    private mutating func ask(_ round: Round, proposing credential: Credential?) -> Action {
        history.questions += 1
        guard history.questions <= Self.questionLimit else { return finish(.pass(.endless)) }
        state = .asking(round, proposed: credential)
        var challenge = AuthenticationChallenge(
            protectionSpace: round.offers[round.index].space, proposedCredential: credential,
            previousFailureCount: history.failures, failureResponse: round.response,
            refused: history.refusals.map(\.credential.version))
        challenge.refusedRules = history.refusals.map(\.reason)
        challenge.distinguishedNames = round.offers[round.index].distinguishedNames
        return .ask(challenge)
    }

    private mutating func answer(_ round: Round, with credential: Credential, by decision: Decision) -> Action {
        history.answering = decision.reason
        return answer(round, with: decision.persistence.map(credential.with) ?? credential)
    }

    private mutating func answer(_ round: Round, with credential: Credential) -> Action {
        history.answers += 1
        history.retries = 0
        guard history.answers <= Self.answerLimit else { return finish(.pass(.endless)) }
        let offer = round.offers[round.index]
        let answer = Answer(space: offer.space, challenge: offer.challenge, credential: credential)
        state = .awaitingResponse(answer)
        return .answer(answer)
    }

    private mutating func finish(_ action: Action) -> Action {
        state = .finished
        return action
    }

    /// Handles an error of the caller, which a peer cannot cause. The client still gets its response.
    private mutating func outOfTurn() -> Action {
        assertionFailure("an event that the last action did not ask for")
        return finish(.pass(.endless))
    }
}

/// A challenge answered with a credential.
public final class Answer: Sendable {
    public let space: ProtectionSpace
    /// The challenge; nil if the answer is preemptive.
    public let challenge: HeaderChallenge?
    public let credential: Credential
    /// The evidence of the server about the credential, for a preemptive answer; nil for others.
    public let evidence: Evidence?
    /// Whether a rule sends it with every request, without a challenge.
    public let isPreemptive: Bool

    public init(
        space: ProtectionSpace, challenge: HeaderChallenge?, credential: Credential, evidence: Evidence? = nil
    ) {
        self.evidence = evidence
        isPreemptive = challenge == .preemptive
        self.space = space
        self.challenge = challenge
        self.credential = credential
    }

    /// Whether it is preemptive, and the server has not accepted it for the target before.
    public func isUnproven(at target: Span<UInt8>) -> Bool {
        challenge == nil && evidence?.hasAccepted(target) == false
    }
}
