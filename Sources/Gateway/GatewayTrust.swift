import Authentication
import Bytes
import Challenges
import IO
import Model
import Rules
import TLS
import Upstream

/// Decides about the certificate of a server behind a gateway, by the CA certificates and rules that apply to origins.
struct GatewayTrust: Sendable {
    let policy: Policy
    let delegate: RuleDelegate
    let origin: Origin
    /// The route's settings.
    let tls: Configuration.TLSTerms?
    let lists: RevocationLists?

    /// The reason why the chain is not trusted; nil: it is. May read files: do not call it on a loop.
    func refusal(of chain: PresentedChain) -> Refusal? {
        policy.trust.readSystem()
        let now = SystemClock.wallTime
        func evaluate(_ terms: Configuration.TrustTerms?) -> TrustEvaluation {
            TrustEvaluation.of(
                chain, for: terms?.name.map { ServerName(ofRule: $0) } ?? ServerName(origin.host),
                anchors: policy.trust.anchors(for: terms),
                revocation: lists, at: now)
        }
        let decision = ServerTrustDecision(evaluate: evaluate) {
            // No exceptions are stored for FTP servers: `attache trust` does not support them.
            []
        } ask: { findings in
            delegate.rule(for: AuthenticationChallenge(trustOf: origin, findings: findings))
        }
        switch decision {
        case .trusted(let verified, let grant):
            policy.trust.note(unlisted: verified.unlisted, by: tls)
            delegate.note(grant, of: origin, at: now)
            return nil
        case .refused(let refused):
            let evaluation = evaluate(nil)
            delegate.note(refused, of: origin, evaluation, at: now)
            return refused.refusal(host: origin.host, port: origin.port, evaluation: evaluation)
        }
    }
}
