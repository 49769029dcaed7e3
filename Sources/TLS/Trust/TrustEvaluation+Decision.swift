extension TrustEvaluation {
    /// What is left of the findings once a rule has forgiven some.
    public enum Decision: Sendable {
        case trusted(VerifiedChain)
        /// The findings that were not forgiven, and whether pins were asked for and none fits.
        case refused(findings: [Finding], pinMismatch: Bool)
    }

    /// Forgives findings of these kinds and no others, and asks for a pin in addition when there are any.
    ///
    /// A pin fits the server's own key or, on a path without any finding, that of an authority on it; once something is
    /// forgiven the server's own alone counts, since nothing then proves that the others have to do with it.
    public func forgiving(_ allowed: Set<TrustFinding>, pins: [PublicKeyPin] = []) -> Decision {
        let mismatch = !pins.isEmpty && !bearsOne(of: pins)
        if !mismatch, let chain = VerifiedChain(self, forgiving: allowed) { return .trusted(chain) }
        return .refused(findings: findings.filter { !allowed.contains($0.kind) }, pinMismatch: mismatch)
    }

    private func bearsOne(of pins: [PublicKeyPin]) -> Bool {
        pins.contains(leaf.publicKeyPin) || findings.isEmpty && issuers.contains { pins.contains($0.publicKeyPin) }
    }
}
