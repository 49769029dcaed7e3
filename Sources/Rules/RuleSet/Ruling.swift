import Model

/// What the rules say of a challenge, and the rule that it is from.
public struct Ruling: Sendable, Equatable {
    public let action: Configuration.ChallengeRule.Action
    /// Nil: no rule matched, and `action` is `.performDefault`.
    public let rule: RuleReference?
    /// `attempts` of the rule file: refusals of one credential that a request may cost, with those before it that the rule's
    /// `failures` asks for.
    public let attempts: Int
    /// How many answers with one credential, or by an operator, the rule lets a request have; 0: it never answers.
    public let answers: Int
    /// Milliseconds after which a version that was accepted before and is refused now is tried again by one request,
    /// after each refusal the next, the last one over and over; empty: never.
    public let retry: [Int]
    public let probe: Configuration.ChallengeRule.Probe
    public let persistence: Persistence
    public let preemption: Configuration.ChallengeRule.Preemption
    /// The order in which to try a response's challenges; empty: by strength.
    public let order: [AuthenticationMethod]
    public let authorization: Configuration.ChallengeRule.Authorization
    /// Nil: nothing is out of the ordinary.
    public let terms: AnswerTerms?
    /// Whether a client's own answer is kept when the server accepts it.
    public let learns: Bool
    /// Whether its credential has a place of its own in requests, and goes with every one.
    public let isPlaced: Bool
    /// Whether the rule speaks of the method by its name, and not of any.
    public let namesMethod: Bool
    /// Whether the rule says `proxy yes`.
    public let isForParents: Bool
    /// Whether the answer is told, and not given.
    public let isReport: Bool

    /// - Parameter action: the rule's, or the part of it that goes with the challenge's method.
    init(_ rule: Configuration.ChallengeRule, action: Configuration.ChallengeRule.Action) {
        self.action = action
        self.rule = rule.rule
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
        namesMethod = rule.predicates.method.written != nil
        isForParents = rule.predicates.proxy.wanted == true
        isReport = rule.mode == .report
    }

    private init() {
        action = .performDefault
        rule = nil
        attempts = 1
        answers = 1
        retry = Configuration.ChallengeRule.usualRetry
        probe = .sample
        persistence = .session
        preemption = .yes
        order = []
        authorization = .keep
        terms = nil
        learns = false
        isPlaced = false
        namesMethod = false
        isForParents = false
        isReport = false
    }

    /// Whether an accepted credential is sent unasked from then on.
    public var isPreemptive: Bool { preemption != .no }

    /// The rule that made it, in words.
    public var reason: String { rule?.reason ?? "no rule" }

    /// Holds when no rule matches.
    public static let none = Ruling()
}
