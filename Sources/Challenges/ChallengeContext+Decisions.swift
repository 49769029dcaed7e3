import Authentication
import Rules
import Telemetry

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
