import Model

extension RuleSet {
    /// Every rule up to the one that matches, in the file's order, with the reason why it did not. It asks the rules
    /// one after the other, without the index that `decide` uses. Of a challenge of TLS, rules that do not speak of it
    /// are left out; so are those of TLS, of all others.
    public func explain(_ query: ChallengeQuery) -> [RuleTrace] {
        var traces: [RuleTrace] = []
        for matcher in matchers where matcher.speaks(of: query.method) {
            let rule = matcher.rule
            guard let predicate = matcher.firstMismatch(query, hostMatches: false) else {
                traces.append(RuleTrace(rule: rule.rule, outcome: .matched))
                break
            }
            traces.append(
                RuleTrace(rule: rule.rule, outcome: .failed(predicate, matcher.predicates[predicate].mismatch(query))))
        }
        return traces
    }

    /// Every rule held against a request that was not challenged yet: either it can never apply, or it depends on
    /// the challenge. The query's method, realm, issuers, findings and failures are not looked at; neither is
    /// `isSecure` when it is false, for a method that hides the credential makes it true.
    public func prospects(_ query: ChallengeQuery) -> [RuleTrace] {
        matchers.filter { $0.speaks(of: query.method) }.map { matcher in
            let rule = matcher.rule
            var query = query
            // A signature, or what else is sent unasked, waits for no challenge whose method could hide it.
            let isSecurityOpen =
                matcher.predicates.secure.isSaid && !query.isSecure && !rule.waitsForNone
                && rule.preemption != .always
            if isSecurityOpen { query.isSecure = matcher.predicates.secure.wanted == true }
            if let predicate = matcher.firstMismatch(query, hostMatches: false), !predicate.type.needsChallenge {
                return RuleTrace(
                    rule: rule.rule, outcome: .failed(predicate, matcher.predicates[predicate].mismatch(query)))
            }
            let condition = matcher.openPredicates(isSecurityOpen: isSecurityOpen)
            return RuleTrace(rule: rule.rule, outcome: .depends("\(matcher.answerAndTerms), \(condition)"))
        }
    }

    /// The answers of rules to challenges of the query's method, whatever their realm and however many failed before:
    /// every answer up to that of the first rule which leaves no challenge to the others.
    func possibleAnswers(_ query: ChallengeQuery) -> [Configuration.ChallengeRule.Action] {
        var answers: [Configuration.ChallengeRule.Action] = []
        for matcher in matchers {
            let rule = matcher.rule
            let mismatch = matcher.firstMismatch(query, hostMatches: false)
            if let mismatch, mismatch != .realm, mismatch != .failures { continue }
            let answer = rule.action(for: query.method)
            if !answers.contains(answer) { answers.append(answer) }
            if mismatch == nil, !matcher.predicates.realm.isSaid, !matcher.predicates.failures.isSaid { return answers }
        }
        if !answers.contains(.performDefault) { answers.append(.performDefault) }
        return answers
    }
}

extension ChallengeMatcher {
    /// Whether the rule is of the same side, TLS or responses, as a challenge of that method.
    func speaks(of method: AuthenticationMethod) -> Bool {
        let side = MethodSet.tls.contains(method) ? MethodSet(method) : .http
        return !predicates.method.effective.isDisjoint(with: side)
    }

    /// The conditions on a challenge that are left when all that is known of the request fits.
    func openPredicates(isSecurityOpen: Bool) -> String {
        var words: [String] = []
        if isSecurityOpen {
            words.append("the method \(predicates.secure.wanted == true ? "hides" : "shows") the credential")
        }
        words += predicates.said.compactMap { predicates[$0].prospect }
        if words.isEmpty, MethodSet.tls.isSuperset(of: predicates.method.effective) { return "for every certificate" }
        if rule.isUse, rule.preemption == .always || rule.waitsForNone {
            return (rule.placements.map { "in \($0)" } + ["with every request, before any challenge"] + words).joined(
                separator: ", ")
        }
        return words.isEmpty ? "for every challenge" : "if " + words.joined(separator: " and ")
    }

    /// The answer with the terms of a trust.
    var answerAndTerms: String {
        rule.trustTerms.map { "trust (\($0.words.joined(separator: ", ")))" } ?? rule.actionWords
    }
}

/// One rule held against one challenge.
public struct RuleTrace: Sendable, Equatable {
    public enum Outcome: Sendable, Equatable {
        case matched
        /// The first predicate that did not hold, and the sentence that says why.
        case failed(Predicates.Name, String)
        /// Before any challenge: what is known of the request fits; the text says what the rest must be.
        case depends(String)
    }

    public let rule: RuleReference
    public let outcome: Outcome
}

extension RuleTrace: CustomStringConvertible {
    public var description: String {
        switch outcome {
        case .matched: "\(rule): matches"
        case .failed(_, let sentence): "\(rule): \(sentence)"
        case .depends(let conditions): "\(rule): \(conditions)"
        }
    }
}
