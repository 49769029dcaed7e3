import Authentication
import Bytes
import IO
import Model
import Rules

/// The answer that a request goes out with before anybody has asked.
extension ChallengeLoop {
    /// Finds the answer to give unasked, behind the request that is being challenged for all.
    ///
    /// - Parameter finding: of the look before it; nil: a look is to be taken.
    /// - Returns: whether it is known what is given; else work is to be done first.
    public func prepare(with finding: AnswerSource.Finding? = nil) -> Bool {
        if work != nil { return false }
        if let probe = context.probe {
            if let prepared = context.source.unaskedAnswer(with: probe.credential, at: context.request.target) {
                preempt(with: prepared, by: nil)
                preparation.begin(probe.attempt)
            }
            return true
        }
        var (mayFetch, token) = (!context.request.isOwn, Credential?.none)
        switch outcome.take() {
        case .news(let outcome)?: preparation.turn.hearNews(outcome)
        case .token(let fetched)?: (mayFetch, token) = (false, fetched)
        case .verdict(let outcome)?: if !preparation.turn.hearVerdict(outcome) { return true }
        // The credential has another value by now, which is found as at first.
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
        case .awaitsToken, .unknown:
            if context.request.isOwn { break }
            let (origin, target) = (context.challenger.origin, context.request.target)
            work = preparation.turn.seekNews(of: origin, target: target, in: context.spaces).map { .news($0) }
        }
        return work == nil
    }

    /// The request goes out again, which this server has let pass: the answer of that time is given unasked.
    public func renew() {
        preparation.performer.renew()
        task = ChallengeTask(urlCredential: context.source.urlCredential, preempted: preparation.performer.answer)
    }

    private func find(with token: Credential?) -> AnswerSource.Finding {
        context.source.find(for: context.request.target, with: token) { context.connection.holdsLogin(with: $0) }
    }

    /// As above, for a task, which can wait.
    public func prepared() async { while !prepare() { await performWork() } }

    private func preempt(with prepared: PreparedAnswer, by rule: RuleReference?) {
        task = ChallengeTask(urlCredential: context.source.urlCredential, preempted: prepared.answer)
        preparation.take(prepared)
        context.request.record.note(rule, about: context.challenger)
    }

    /// The account of the answer's credential has decided. Where it is held back the request goes out without, and is
    /// challenged.
    private func takeUnproven(_ admission: AnswerAdmission?) {
        guard let (prepared, rule) = unproven, case .send(let attempt)? = admission else { return }
        if preparation.mayPreempt(prepared) { preempt(with: prepared, by: rule) }
        preparation.begin(attempt)
    }
}

extension Probe {
    /// Its credential answers whatever it can answer, once.
    func decision(about challenge: AuthenticationChallenge) -> Decision {
        let isMeant =
            credential.canAnswer(challenge.protectionSpace)
            // A ticket would prove nothing.
            && challenge.protectionSpace.authenticationMethod != .negotiate
            && !challenge.refused.contains(credential.version)
        return Decision(isMeant ? .useCredential(credential) : .rejectProtectionSpace, reason: "a probe")
    }
}
