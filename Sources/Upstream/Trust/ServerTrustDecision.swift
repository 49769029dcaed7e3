import Model
import Rules

/// The answer to a server-trust challenge. First the chain is evaluated. Then the rules are asked about the problems.
/// If the answering rule has terms of its own, the chain is evaluated again on them. A stored exception for the
/// server's key then forgives the problems that are left, but never `revoked`. A rule that refuses, or names other
/// keys, overrides the exception.
public enum ServerTrustDecision<Verified: Sendable>: Sendable {
    case trusted(Verified, TrustGrant)
    case refused(TrustRefusal)

    /// Whether the chain is trusted only because of a stored exception.
    var isException: Bool {
        if case .trusted(_, let grant) = self { grant.isException } else { false }
    }

    /// - Parameters:
    ///   - evaluate: evaluates the chain with the CA certificates and the name of these terms; nil: the system's CA
    ///     certificates and the host's own name.
    ///   - exceptions: the exceptions for the server that are valid today; asked for only if problems are left.
    ///   - ask: asks the rules about the problems of the first evaluation.
    public init<Evaluation: ChainEvaluation>(
        evaluate: (TrustTerms?) -> Evaluation, exceptions: () -> [TrustException],
        ask: (TrustFindings) -> Ruling
    ) where Evaluation.Verified == Verified {
        let standard = evaluate(nil)
        let ruling = ask(standard.kindsFound)
        if ruling.isReport {
            self.init(standard, on: nil, by: ruling.rule, foundAtFirst: standard.kindsFound, exceptions)
            if case .refused(var refusal) = self {
                let rule = ruling.rule.map { "rule \($0)" } ?? "a rule"
                refusal.report = "\(rule) has 'mode report': it would have answered '\(ruling.action.words)'"
                self = .refused(refusal)
            }
            return
        }
        switch ruling.action {
        case .trust(let terms):
            let isStandard = terms.anchors.isEmpty && terms.name == nil
            self.init(
                isStandard ? standard : evaluate(terms), on: terms, by: ruling.rule,
                foundAtFirst: standard.kindsFound, exceptions)
        case .performDefault, .use, .ask:
            self.init(standard, on: nil, by: ruling.rule, foundAtFirst: standard.kindsFound, exceptions)
        case .reject, .cancel:
            self = .refused(TrustRefusal(reason: .rule, rule: ruling.rule, findings: standard.kindsFound))
        }
    }

    private init<Evaluation: ChainEvaluation>(
        _ evaluation: Evaluation, on terms: TrustTerms?, by rule: RuleReference?, foundAtFirst findings: TrustFindings,
        _ exceptions: () -> [TrustException]
    ) where Evaluation.Verified == Verified {
        let allowed = terms?.allow ?? []
        switch evaluation.forgiving(allowed, pins: terms?.pins ?? []) {
        case .trusted(let chain):
            self = .trusted(chain, TrustGrant(rule: rule, forgiven: evaluation.kindsFound, until: terms?.until))
        case .refused(let left, let isOtherKey):
            for exception in isOtherKey || left.contains(.revoked) ? [] : exceptions() {
                let excepted = TrustFindings.all.subtracting(.revoked).union(allowed)
                guard case .trusted(let chain) = evaluation.forgiving(excepted, pins: [exception.pin]) else { continue }
                let until = min(terms?.until ?? exception.until, exception.until)
                self = .trusted(
                    chain, TrustGrant(rule: rule, forgiven: evaluation.kindsFound, until: until, isException: true))
                return
            }
            let reason = left.isEmpty && isOtherKey ? TrustRefusal.Reason.otherKey : .findings(left)
            self = .refused(TrustRefusal(reason: reason, rule: rule, findings: findings))
        }
    }
}
