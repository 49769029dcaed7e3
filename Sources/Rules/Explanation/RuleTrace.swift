/// One rule held against one challenge.
public struct RuleTrace: Sendable, Equatable {
    public enum Outcome: Sendable, Equatable {
        case matched
        /// The first predicate that did not hold, and the sentence that says why.
        case failed(ChallengePredicate, String)
        /// Before any challenge: what is known of the request fits; the text says what the rest must be.
        case depends(String)
    }

    public let rule: RuleReference
    public let outcome: Outcome
}
