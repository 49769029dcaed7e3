import Authentication
import Bytes
import IO
import Rules

/// The answer that a request goes out with before anybody has asked.
extension ChallengeLoop {
    /// Finds the answer to give unasked, behind the request that is being challenged for all.
    ///
    /// - Parameter finding: of the look before it; nil: a look is to be taken.
    /// - Returns: whether it is known what is given; else work is to be done first.
    public func prepare(with finding: AnswerSource.Finding? = nil) -> Bool {
        if work != nil { return false }
        var (mayFetch, token) = (!context.request.isOwn, Credential?.none)
        switch outcome.take() {
        case .news(let outcome)?: preparation.turn.hearNews(outcome)
        case .token(let fetched)?: (mayFetch, token) = (false, fetched)
        case .verdict(let outcome)?: if !preparation.turn.hearVerdict(outcome) { return true }
        case .trial(let isOurs)?:
            if isOurs { beginTrial() }
            return true
        default: break
        }
        switch finding ?? find(with: token) {
        case .answer(let prepared, let rule): preempt(with: prepared, by: rule)
        case .unproven(let prepared, let rule):
            // Of all that would send it, one does, and the others wait for what comes of it.
            if preparation.turn.lease == nil,
                let waiter = preparation.turn.seekVerdict(on: prepared.answer, in: context.spaces)
            {
                work = .verdict(waiter)
            } else {
                preempt(with: prepared, by: rule)
            }
        case .trial(let trial):
            self.trial = trial
            work = .trial(trial.entry, trial.term, retry: trial.rule.retry)
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

    /// Of all processes this request tries a parked version again.
    private func beginTrial() {
        guard let trial else { return }
        preparation.beginTrial(trial.entry)
        preempt(with: trial.prepared, by: trial.rule.rule)
    }
}
