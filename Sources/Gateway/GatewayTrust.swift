import Authentication
import Bytes
import Challenges
import HTTP
import IO
import Model
import Rules
import TLS
import Upstream

/// Decides about the certificate of a server behind a gateway, by the CA certificates and rules that apply to origins.
struct GatewayTrust: Sendable {
    private let policy: Policy
    private let delegate: RuleDelegate
    private let origin: Origin
    private let host: String
    private let port: UInt16
    private let tls: Configuration.TLSTerms?
    private let lists: RevocationLists?

    /// - Parameter tls: the route's settings.
    init(
        policy: Policy, delegate: RuleDelegate, origin: UpstreamServer, tls: Configuration.TLSTerms?
    ) throws(Refusal) {
        self.policy = policy
        self.delegate = delegate
        self.origin = origin.authority
        host = origin.hostText
        port = origin.port
        self.tls = tls
        switch policy.trust.revocation(for: tls) {
        case .unasked: lists = nil
        case .lists(let lists): self.lists = lists
        case .unknown:
            throw Refusal(
                .internalServerError, .proxyConfigurationError,
                "the revocation lists that a route names for \(host) could not be read")
        }
    }

    /// The reason why the chain is not trusted; nil: it is. May read files: do not call it on a loop.
    func refusal(of chain: PresentedChain) -> Refusal? {
        policy.trust.readSystem()
        let now = SystemClock.wallTime
        func evaluate(_ terms: Configuration.TrustTerms?) -> TrustEvaluation {
            TrustEvaluation.of(
                chain, for: terms?.name.map { ServerName(ofRule: $0) } ?? ServerName(host),
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
            let refusal = refused.refusal(host: host, port: port, evaluation: evaluation)
            delegate.note(refused, of: origin, evaluation, at: now)
            return refusal
        }
    }
}
