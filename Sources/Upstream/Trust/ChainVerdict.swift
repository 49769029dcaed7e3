import Model
import Rules

/// The verdict on a chain after the problems that a rule allows were forgiven.
public enum ChainVerdict<Verified> {
    case trusted(Verified)
    /// - Parameters:
    ///   - left: the problems that are not forgiven.
    ///   - isOtherKey: whether the server's key differs from all keys that the rule names.
    case refused(left: TrustFindings, isOtherKey: Bool)
}
