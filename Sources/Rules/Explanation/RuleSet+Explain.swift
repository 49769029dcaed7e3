import Model

extension RuleSet {
    /// Returns every rule up to the one that matches, in the order of the file, with the reason why it did not match.
    /// The rules are checked one after the other, without the index that `decide` uses. For a TLS challenge only the
    /// rules about TLS are included, for other challenges only the other rules.
    ///
    /// - Parameter limit: how many of them, those that got furthest with the challenge.
    public func explain(_ query: ChallengeQuery, limit: Int = .max) -> [Trace] {
        var held: [(number: Int, predicate: Predicates.Name?)] = []
        for (number, matcher) in matchers.enumerated() where matcher.speaks(of: query.method) {
            let predicate = matcher.firstMismatch(query, hostMatches: false)
            held.append((number, predicate))
            if predicate == nil { break }
        }
        let depth = { (predicate: Predicates.Name?) in predicate?.depth ?? .max }
        let nearest = held.sorted { (depth($1.predicate), $0.number) < (depth($0.predicate), $1.number) }.prefix(limit)
        return nearest.sorted { $0.number < $1.number }.map { number, predicate in
            let matcher = matchers[number]
            return Trace(
                rule: matcher.rule.rule,
                outcome: predicate.map { .failed($0, matcher.predicates[$0].mismatch(query)) } ?? .matched)
        }
    }

    /// Checks every rule against a request that was not challenged yet: either it can never apply, or it depends on the
    /// challenge. Method, realm, issuers, problems and failures of the query are ignored. So is `isSecure` if it is
    /// false, because a method that hides the credential makes it true.
    public func prospects(_ query: ChallengeQuery) -> [Trace] {
        matchers.filter { $0.speaks(of: query.method) }.map { matcher in
            let rule = matcher.rule
            var query = query
            // A signature or other preemptive credential waits for no challenge whose method could hide it.
            let isSecurityOpen =
                matcher.predicates.secure.isSaid && !query.isSecure && !rule.waitsForNone
                && !rule.waitsForRequest && rule.preemption != .always
            if isSecurityOpen { query.isSecure = matcher.predicates.secure.wanted == true }
            if let predicate = matcher.firstMismatch(query, hostMatches: false), !predicate.type.needsChallenge {
                return Trace(
                    rule: rule.rule, outcome: .failed(predicate, matcher.predicates[predicate].mismatch(query)))
            }
            let condition = matcher.openPredicates(isSecurityOpen: isSecurityOpen)
            return Trace(rule: rule.rule, outcome: .depends("\(matcher.answerAndTerms), \(condition)"))
        }
    }

    /// The answers of rules to challenges of the query's method, with any realm and any number of refusals before:
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

    /// The result of checking one rule against one challenge.
    public struct Trace: Sendable, Equatable, CustomStringConvertible {
        public enum Outcome: Sendable, Equatable {
            case matched
            /// The first predicate that did not match, and a sentence with the reason.
            case failed(Predicates.Name, String)
            /// The known part of the request matches; the text says what the challenge must be.
            case depends(String)
        }

        public let rule: RuleReference
        public let outcome: Outcome

        public var description: String {
            switch outcome {
            case .matched: "\(rule): matches"
            case .failed(_, let sentence): "\(rule): \(sentence)"
            case .depends(let conditions): "\(rule): \(conditions)"
            }
        }
    }
}

extension RuleSet.Matcher {
    /// Whether the rule is of the same side as a challenge of that method: TLS, or responses.
    func speaks(of method: AuthenticationMethod) -> Bool {
        let side = MethodSet.tls.contains(method) ? MethodSet(method) : .http
        return !predicates.method.effective.isDisjoint(with: side)
    }

    /// The conditions on a challenge that remain when the request itself matches.
    func openPredicates(isSecurityOpen: Bool) -> String {
        var words: [String] = []
        if isSecurityOpen {
            words.append("the method \(predicates.secure.wanted == true ? "hides" : "shows") the credential")
        }
        words += predicates.said.compactMap { predicates[$0].prospect }
        if words.isEmpty, MethodSet.tls.isSuperset(of: predicates.method.effective) { return "for every certificate" }
        if rule.isUse, rule.waitsForRequest {
            return (["when a response asks for a signature (Accept-Signature)"] + words).joined(separator: ", ")
        }
        if rule.isUse, rule.hasPlaceholder {
            return (["in place of its placeholder, in requests that have it"] + words).joined(separator: ", ")
        }
        if rule.isUse, rule.preemption == .always || rule.waitsForNone {
            return (rule.placements.map { "in \($0)" } + ["with every request, before any challenge"] + words).joined(
                separator: ", ")
        }
        return words.isEmpty ? "for every challenge" : "if " + words.joined(separator: " and ")
    }

    /// The answer, with the terms of a trust.
    var answerAndTerms: String {
        rule.trustTerms.map { "trust (\($0.words.joined(separator: ", ")))" } ?? rule.action.words
    }
}
