import Bytes
import Model

/// The decision of the rules on a challenge, and the rule that made it. A class, made once for each rule, because each
/// challenge passes it on a dozen times.
public final class RuleDecision: Sendable, Equatable {
    public let action: Configuration.ChallengeRule.Action
    /// The rule; nil if none matched and `action` is `.performDefault`.
    public let rule: RuleReference?
    /// The value of `attempts`: the limit of refusals of one credential in a request, including those that the rule's
    /// `failures` requires.
    public let attempts: Int
    /// The number of answers with one credential, or by an operator, that the rule allows a request; 0 if it never
    /// answers.
    public let answers: Int
    /// The times after which a version that was accepted before and is refused now is tried again by one
    /// request. The first value is for the first refusal, the next for the next; the last one repeats. Empty for never.
    public let retry: [Milliseconds]
    public let probe: Configuration.ChallengeRule.Probe
    public let persistence: Persistence
    public let preemption: Configuration.ChallengeRule.Preemption
    /// The order in which to try a response's challenges; empty for by strength.
    public let order: [AuthenticationMethod]
    public let authorization: Configuration.ChallengeRule.Authorization
    /// The terms of the answer; nil if there are only defaults.
    public let terms: Configuration.AnswerTerms?
    /// Whether a client's own answer is stored when the server accepts it.
    public let learns: Bool
    /// Whether the credential has its own place in requests, and goes with every one.
    public let isPlaced: Bool
    /// Whether the credential goes only where the client has written its placeholder. Then it is placed, too.
    public let hasPlaceholder: Bool
    /// Whether the rule names the method itself.
    public let namesMethod: Bool
    /// Whether the rule has `proxy yes`.
    public let isForParents: Bool
    /// Whether the answer is only reported, not given.
    public let isReport: Bool

    /// - Parameters:
    ///   - rule: the values.
    ///   - action: the rule's action, or the part of it that fits the challenge's method.
    ///   - reference: the rule; nil if none matched.
    init(
        _ rule: Configuration.ChallengeRule, action: Configuration.ChallengeRule.Action, by reference: RuleReference?
    ) {
        self.action = action
        self.rule = reference
        attempts = rule.attempts
        answers = max(0, rule.attempts - rule.failuresBefore)
        retry = rule.retry
        probe = rule.probe
        persistence = rule.persistence
        preemption = rule.preemption
        order = rule.order
        authorization = rule.authorization ?? .keep
        terms = rule.answerTerms
        learns = rule.learns
        isPlaced = !rule.placements.isEmpty
        hasPlaceholder = rule.hasPlaceholder
        namesMethod = rule.predicates.method.written != nil
        isForParents = rule.predicates.proxy.wanted == true
        isReport = rule.mode == .report
    }

    /// Whether an accepted credential is sent preemptively afterwards.
    public var isPreemptive: Bool { preemption != .no }

    /// The deciding rule, in words.
    public var reason: String { rule?.reason ?? "no rule" }

    /// The ruling if no rule matches: the defaults of a `challenge`.
    public static let none = RuleDecision(
        Configuration.ChallengeRule(rule: RuleReference(name: nil, file: "", line: 0)), action: .performDefault,
        by: nil)

    public static func == (left: RuleDecision, right: RuleDecision) -> Bool { left === right }
}
