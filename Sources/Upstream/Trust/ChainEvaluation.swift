import Model
import Rules

/// The findings about a chain that a server sent, by whichever anchors and for whichever name.
public protocol ChainEvaluation {
    /// A chain that was judged good enough.
    associatedtype Verified

    /// All of them, not only the first.
    var kindsFound: TrustFindings { get }

    func forgiving(_ allowed: TrustFindings, pins: [KeyPin]) -> ChainVerdict<Verified>
}
