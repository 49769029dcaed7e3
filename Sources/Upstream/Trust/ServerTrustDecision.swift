import Model
import Rules

/// The answer to a server-trust challenge: the chain is evaluated, the rules are asked about what was found, and on the
/// terms of the rule that answers, if it has any of its own, the chain is evaluated again. Findings that are left then are
/// forgiven where a stored exception is for the server's key, but for `revoked`; a rule that says no, or names other keys,
/// has the last word.
public enum ServerTrustDecision<Verified: Sendable>: Sendable {
    case trusted(Verified, TrustGrant)
    case refused(TrustRefusal)

    /// Whether a stored exception made the difference.
    var isException: Bool {
        if case .trusted(_, let grant) = self { grant.isException } else { false }
    }

    /// - Parameters:
    ///   - evaluate: with the anchors and for the name of these terms; nil: the system's, and the host's own.
    ///   - exceptions: those for the server that hold today; asked for only where findings are left.
    ///   - ask: the rules, about findings of the first evaluation.
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
