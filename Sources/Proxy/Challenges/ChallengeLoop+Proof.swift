import Authentication
import Bytes
import HTTP

/// Whether whoever challenged proves in turn that it knows the credential, which may cover the response's body.
extension ChallengeLoop {
    /// What the response says in proof that the server knows the credential; nil when it was not given one, or is in
    /// trouble and has judged nothing.
    func proof(bodyDigest: [UInt8]?) -> Acceptance? {
        let hasJudged = upstream.head.status.rawValue < 500
        if case .session(let session)? = authenticator?.binding, let ticket, hasJudged {
            session.accepted(ticket: ticket, wasAsked: wasAsked, at: wasAsked ? forms?.safeTarget : nil)
            return .unverified
        }
        guard case .request(let requests)? = authenticator?.binding else { return loginProof(hasJudged: hasJudged) }
        guard let ticket, hasJudged else { return nil }
        return upstream.withAuthenticationInfo(in: fields.information) {
            requests.accepted($0, ticket: ticket, target: target.readable, bodyDigest: bodyDigest)
        }
    }

    /// Judges a response that is no challenge, with its body where the proof covers that.
    mutating func judgeWithBody() async -> Verdict {
        var proof = proof(bodyDigest: nil)
        guard case .needsBody(let algorithm) = proof else { return accept(proof) }
        let limits = policy.limits
        switch await upstream.readCoveredBody(
            digesting: algorithm, in: ReplayRoom(limits, in: shared.spool), limits: limits.response,
            within: policy.timeouts.idle)
        {
        case .whole(let digest):
            proof = self.proof(bodyDigest: digest)
            return accept(proof)
        case .tooLarge:
            guard case .pass = accept(.unverified) else { return .pass(note: nil) }
            return .pass(note: Self.proofUnchecked)
        case .failed(let refusal):
            settle(.unanswered)
            return .cancel(refusal)
        }
    }

    private static let proofUnchecked =
        "the origin's proof that it knows the password (rspauth) was not checked: it covers a response larger than this "
        + "proxy keeps (limits replay-memory, replay-disk and replay-disk-total)"
}
