import Authentication
import Rules
import Telemetry

/// What the exchange's record learns. It has places of their own for a parent's answers.
extension ChallengeLoop {
    func note(_ answer: Authentication.Answer) {
        let (name, scheme) = (answer.credential.version.name, AnsweredScheme(answer.space.authenticationMethod))
        if origin.isProxy {
            record.parentCredential = name
            record.parentScheme = scheme
        } else {
            record.credential = name
            record.scheme = scheme
        }
    }

    /// The rule about the origin's challenges is the one that counts.
    func note(_ rule: Rules.Decision) {
        if origin.isProxy, record.ruleLine > 0 { return }
        record.rule = rule.rule?.label
        record.ruleLine = rule.rule?.line ?? 0
    }

    func countAnswer() { if !origin.isProxy { record.attempts += 1 } }
}
