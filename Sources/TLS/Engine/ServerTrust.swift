import Glibc

/// The answer that a server's chain got: good for this connection and those that resume it.
public struct ServerTrust: Sendable {
    /// What the evaluation vouches for.
    public let chain: VerifiedChain
    /// The caller's own record of why, such as the rule that forgave a finding.
    public let decision: (any Sendable)?
    /// Seconds since 1970.
    let decided: Int

    public init(_ chain: VerifiedChain, decision: (any Sendable)? = nil) {
        self.chain = chain
        self.decision = decision
        decided = time(nil)
    }
}
