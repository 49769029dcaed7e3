extension RuleSet {
    /// Every rule up to the one that matches, in the file's order, with the reason why it did not. It asks the rules
    /// one after the other, without the index that `decide` uses.
    public func explain(_ query: ChallengeQuery) -> [RuleTrace] {
        var traces: [RuleTrace] = []
        for matcher in matchers {
            let rule = matcher.rule
            guard let predicate = matcher.firstMismatch(query, hostMatches: false) else {
                traces.append(RuleTrace(rule: rule.rule, outcome: .matched))
                break
            }
            traces.append(RuleTrace(rule: rule.rule, outcome: .failed(predicate, rule.words(for: predicate, query))))
        }
        return traces
    }

    /// Every rule held against a request that was not challenged yet: either it can never apply, or it depends on
    /// the challenge. The query's method, realm, issuers, findings and failures are not looked at.
    public func prospects(_ query: ChallengeQuery) -> [RuleTrace] {
        matchers.map { matcher in
            let rule = matcher.rule
            if let predicate = matcher.firstMismatch(query, hostMatches: false), predicate.isKnownBeforeChallenge {
                return RuleTrace(rule: rule.rule, outcome: .failed(predicate, rule.words(for: predicate, query)))
            }
            return RuleTrace(rule: rule.rule, outcome: .depends("\(rule.answerWords), \(rule.openPredicates)"))
        }
    }
}
