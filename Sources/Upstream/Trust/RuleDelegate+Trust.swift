import Authentication
import Bytes
import Challenges
import Model
import Rules
import TLS

/// Records a server's certificate in the journal of challenges, and reports it to the operator once if it is refused. A
/// certificate without problems is not recorded.
extension RuleDelegate {
    /// - Parameter isAsked: whether the operator is asked about it, and so needs no line.
    public func note(
        _ refusal: TrustRefusal, of origin: Origin, _ evaluation: TrustEvaluation, isAsked: Bool = false,
        at now: WallTime
    ) {
        let challenge = AuthenticationChallenge(trustOf: origin, findings: refusal.findings)
        var note = TLSChallengeEntry(challenge, to: self)
        note.lines = evaluation.findings.map { "\($0)" } + ["key \(evaluation.leaf.publicKeyPin)"]
        note.reason = refusal.cause
        if refusal.reason != .rule {
            var rule = SuggestedTrustRule(
                host: origin.host, port: origin.port, findings: evaluation.provenKinds,
                pin: evaluation.leaf.publicKeyPin, today: .today)
            rule.title = policy.rules.configuration.freeRuleName(rule.title)
            note.suggestion = rule.text
            note.precedes = refusal.rule
        }
        if let line = note.put(.cancelled, at: now), !isAsked { state.report(line) }
    }

    public func note(_ grant: TrustGrant, of origin: Origin, at now: WallTime) {
        guard let words = grant.words else { return }
        let challenge = AuthenticationChallenge(trustOf: origin, findings: grant.forgiven)
        var note = TLSChallengeEntry(challenge, to: self)
        note.lines = ["forgiven: \(words)"]
        note.credential = grant.isException ? grant.label : nil
        _ = note.put(.answered, at: now)
    }
}
