/// A server's chain that was judged good enough for one name: without a finding, or with findings that a rule forgave.
/// Only an evaluation makes one.
public struct VerifiedChain: Sendable {
    /// The server's own certificate.
    public let leaf: Certificate
    /// From the leaf's issuer towards the anchor, as far as the path could be built.
    public let issuers: [Certificate]
    /// Whom it was judged for.
    public let name: ServerName
    /// What was forgiven; empty for a chain that is proved.
    public let forgiven: Set<TrustFinding>
    /// The certificates that no revocation list speaks for, where lists were asked.
    public let unlisted: [Certificate]

    /// Nil when a finding is left.
    init?(_ evaluation: TrustEvaluation, forgiving allowed: Set<TrustFinding>) {
        guard evaluation.kinds.isSubset(of: allowed) else { return nil }
        leaf = evaluation.leaf
        issuers = evaluation.issuers
        name = evaluation.name
        forgiven = evaluation.kinds
        unlisted = evaluation.unlisted
    }
}
