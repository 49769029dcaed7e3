/// The challenges of a response that an explanation is about.
public struct ExplainedResponse: Sendable, Equatable {
    public struct Offer: Sendable, Equatable {
        /// How the caller names the challenge, for example `Digest SHA-256`.
        public let scheme: String
        public let query: ChallengeQuery

        public init(scheme: String, query: ChallengeQuery) {
            self.scheme = scheme
            self.query = query
        }
    }

    /// What can be answered, in the order in which it would be tried.
    public var offers: [Offer]
    /// Who made that order; nil: strength did.
    public var orderedBy: RuleReference?
    /// What is passed over, with the reason: one sentence each.
    public var ignored: [String]

    public init(offers: [Offer], orderedBy: RuleReference? = nil, ignored: [String] = []) {
        self.offers = offers
        self.orderedBy = orderedBy
        self.ignored = ignored
    }
}
