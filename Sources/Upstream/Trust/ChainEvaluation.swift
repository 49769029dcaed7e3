import Model
import Rules

/// The problems of a chain that a server sent, for one set of CA certificates and one name.
public protocol ChainEvaluation {
    /// A chain that was accepted.
    associatedtype Verified

    /// The kinds of all problems, not only of the first.
    var kindsFound: TrustFindings { get }

    func forgiving(_ allowed: TrustFindings, pins: [KeyPin]) -> ChainVerdict<Verified>
}
