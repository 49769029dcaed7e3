/// What an explanation says of the TLS connection to the origin: on what terms it is made, and what the rules answer to
/// the two challenges that a handshake may bring.
public struct ExplainedHandshake: Sendable, Equatable {
    /// A challenge of TLS with what the rules say to it.
    public struct Challenge: Sendable, Equatable {
        public let query: ChallengeQuery
        /// Nil: it depends on what is found or asked for, which the caller did not say.
        public let decision: Decision?
        /// With a decision, every rule up to the one that made it; without, what each would need.
        public let traces: [RuleTrace]
    }

    /// Nil: the route says nothing.
    public let terms: TLSTerms?
    public let trust: Challenge
    public let certificate: Challenge

    /// - Parameter request: as the origin gets it.
    init(_ request: ExplainedRequest, terms: TLSTerms?, rules: RuleSet) {
        self.terms = terms
        var query = request.query(method: .serverTrust)
        query.findings = request.findings
        trust = Self.challenge(query, isKnown: !request.findings.isEmpty, rules)
        query = request.query(method: .clientCertificate)
        query.issuers = request.issuers
        certificate = Self.challenge(query, isKnown: !request.issuers.isEmpty, rules)
    }

    private static func challenge(_ query: ChallengeQuery, isKnown: Bool, _ rules: RuleSet) -> Challenge {
        Challenge(
            query: query, decision: isKnown ? rules.decide(query) : nil,
            traces: isKnown ? rules.explain(query) : rules.prospects(query))
    }
}
