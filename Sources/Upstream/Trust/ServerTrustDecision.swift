import Model
import Rules
import TLS

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
        evaluate: (Configuration.TrustTerms?) -> Evaluation, exceptions: () -> [TrustException],
        ask: (TrustFindings) -> RuleDecision
    ) where Evaluation.Verified == Verified {
        let standard = evaluate(nil)
        let ruling = ask(standard.kindsFound)
        switch ruling.action {
        case .trust(let terms) where !ruling.isReport:
            let isStandard = terms.anchors.isEmpty && terms.name == nil
            self.init(
                isStandard ? standard : evaluate(terms), on: terms, by: ruling.rule,
                foundAtFirst: standard.kindsFound, exceptions)
        case .reject where !ruling.isReport, .cancel where !ruling.isReport:
            self = .refused(TrustRefusal(reason: .rule, rule: ruling.rule, findings: standard.kindsFound))
        case .performDefault, .use, .ask, .trust, .reject, .cancel:
            self.init(standard, on: nil, by: ruling.rule, foundAtFirst: standard.kindsFound, exceptions)
        }
        if ruling.isReport, case .refused(var refusal) = self {
            let rule = ruling.rule.map { "rule \($0)" } ?? "a rule"
            refusal.report = "\(rule) has 'mode report': it would have answered '\(ruling.action.words)'"
            self = .refused(refusal)
        }
    }

    private init<Evaluation: ChainEvaluation>(
        _ evaluation: Evaluation, on terms: Configuration.TrustTerms?, by rule: RuleReference?,
        foundAtFirst findings: TrustFindings, _ exceptions: () -> [TrustException]
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

/// The problems of a chain that a server sent, for one set of CA certificates and one name.
public protocol ChainEvaluation {
    /// A chain that was accepted.
    associatedtype Verified

    /// The kinds of all problems, not only of the first.
    var kindsFound: TrustFindings { get }

    func forgiving(_ allowed: TrustFindings, pins: [KeyPin]) -> ChainVerdict<Verified>
}

/// The verdict on a chain after the problems that a rule allows were forgiven.
public enum ChainVerdict<Verified> {
    case trusted(Verified)
    /// - Parameters:
    ///   - left: the problems that are not forgiven.
    ///   - isOtherKey: whether the server's key differs from all keys that the rule names.
    case refused(left: TrustFindings, isOtherKey: Bool)
}

extension TrustEvaluation: ChainEvaluation {
    public var kindsFound: TrustFindings { kinds }

    public func forgiving(_ allowed: TrustFindings, pins: [KeyPin]) -> ChainVerdict<VerifiedChain> {
        switch forgiving(allowed, pins: pins) as Outcome {
        case .trusted(let chain): return .trusted(chain)
        case .refused(let left, let isOtherKey):
            return .refused(left: TrustFindings(left.map(\.kind)), isOtherKey: isOtherKey)
        }
    }
}
