import Model
import Rules
import TLS

/// The proxy's judgement of a server's certificate, for people.
public struct TrustOpinion: Sendable {
    /// The chain that the server sent.
    public let chain: PresentedChain
    /// The evaluation by the system's CA certificates, independent of any rule.
    public let evaluation: TrustEvaluation
    /// The evaluation by the CA certificates and the name of the answering rule; nil if it has neither.
    public let evaluationOnTerms: TrustEvaluation?
    public let isTrusted: Bool
    /// Whether the server is trusted, and why.
    public let sentence: String
    /// The rule that would trust the server nevertheless; nil if none should.
    public let suggestion: SuggestedTrustRule?
    /// Advice about revocation lists; nil if none.
    public let doubt: String?
    /// The rule before which the suggested rule must be placed.
    public let rule: RuleReference?
    /// Whether the server is trusted because of a stored exception.
    public let isTrustedByException: Bool
    /// Whether an exception for the key would make the server trusted.
    public let wouldBeExcepted: Bool

    /// A sentence about the certificates that no revocation list of the route covers; nil if the route names no lists,
    /// or if all are covered.
    public var unlisted: String? {
        let unlisted = (evaluationOnTerms ?? evaluation).unlisted
        if unlisted.isEmpty { return nil }
        let names = unlisted.map { "\($0)" }.joined(separator: ", ")
        return "No revocation list of the route is for \(names): counted as not revoked."
    }

    init(
        chain: PresentedChain, evaluation: TrustEvaluation, evaluationOnTerms: TrustEvaluation?,
        decision: ServerTrustDecision<VerifiedChain>, wouldBeExcepted: Bool, suggestion: SuggestedTrustRule
    ) {
        self.wouldBeExcepted = wouldBeExcepted
        self.evaluationOnTerms = evaluationOnTerms
        self.chain = chain
        self.evaluation = evaluation
        doubt = SuggestedTrustRule.sentence(onDoubtsOf: evaluation)
        var isOnlyDoubt = false
        if doubt != nil, case .refused(let refusal) = decision, case .findings(let left) = refusal.reason {
            isOnlyDoubt = left.isDisjoint(with: suggestion.findings)
        }
        self.suggestion = isOnlyDoubt ? nil : suggestion
        switch decision {
        case .trusted(let verified, let grant):
            isTrusted = true
            isTrustedByException = grant.isException
            rule = grant.rule
            sentence = Self.sentence(on: verified, grant)
        case .refused(let refusal):
            isTrusted = false
            isTrustedByException = false
            rule = refusal.rule
            var words = "not trusted: \(refusal.words)"
            if case .findings = refusal.reason, let rule { words += ", which rule \(rule) does not forgive" }
            sentence = words
        }
    }

    private static func sentence(on chain: VerifiedChain, _ grant: TrustGrant) -> String {
        if grant.isException, let words = grant.words, let until = grant.until {
            return "trusted by a stored exception until \(until), which forgives \(words)"
        }
        let rule = grant.rule.map { " by rule \($0)" } ?? ""
        if let words = grant.words { return "trusted\(rule), which forgives \(words)" }
        return "trusted\(rule): the chain leads to \(chain.issuers.last ?? chain.leaf)"
    }
}
