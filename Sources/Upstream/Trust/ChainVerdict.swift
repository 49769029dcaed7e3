import Model
import Rules

/// Whether a chain is good enough, once what a rule allows was forgiven.
public enum ChainVerdict<Verified> {
    case trusted(Verified)
    /// - Parameters:
    ///   - left: what is not forgiven.
    ///   - isOtherKey: the server's key is none of those that the rule names.
    case refused(left: TrustFindings, isOtherKey: Bool)
}
