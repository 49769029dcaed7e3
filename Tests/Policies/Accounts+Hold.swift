import Authentication
import Bytes

extension Accounts {
    /// The server refuses the credential for two targets, the first without a path, so that it is on hold at all servers.
    public func putOnHold(_ credential: Credential, at server: Origin) {
        let evidence = evidence(of: credential, at: server.serverName)
        for target in ["", "/refused"] {
            let admission = evidence.admit(target.utf8Span.span, under: Evidence.RetryTerms(retry: [30_000]), now: 0)
            if case .send(let attempt) = admission { attempt.settle(.refused, now: 0) }
        }
    }
}
