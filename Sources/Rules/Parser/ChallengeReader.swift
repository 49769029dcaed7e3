import Bytes
import Model

/// Reads `challenge`.
struct ChallengeReader: BlockReader {
    let context: ReadingContext

    func read(_ directive: Directive<FileDirective>, into draft: inout RuleDraft) {
        if draft.challenges.count >= SyntaxLimits.rules {
            log.report(at: directive.node.name.range, "more than \(SyntaxLimits.rules) challenges")
            return
        }
        let name = directive.values.first
        var rule = Configuration.ChallengeRule(rule: context.reference(name?.text, directive.node))
        var terms = AnswerReader(context: context)
        var answer: SourceRange?
        for inner in context.directives(ChallengeDirective.self, in: directive.node) {
            switch inner.name {
            case .predicate(let name): rule.predicates.read(name, inner.values, parse)
            case .modifier(let modifier): read(modifier, inner, &rule, &terms)
            case .answer(let word):
                if let answer {
                    let line = context.sources.file(answer.file)?.line(of: answer.bytes.lowerBound) ?? 0
                    log.report(at: inner.range, "this challenge already has an answer, on line \(line)")
                } else {
                    answer = inner.node.range
                    rule.action = action(word, inner.values)
                    if word == .use { draft.uses += inner.values.map { ($0.text, $0.range) } }
                }
            }
        }
        if let name, !draft.challengeNames.insert(name.text).inserted {
            log.report(at: name.range, "there is already a challenge \(name.shown)")
        }
        guard let answer else {
            // An unknown word was already reported.
            let words = directive.node.block?.nodes.map(\.name.text) ?? []
            if words.allSatisfy({
                ChallengeDirective(rawValue: $0) != nil && ChallengeDirective.Answer(rawValue: $0) == nil
            }) {
                let range = name?.range ?? directive.node.name.range
                log.report(at: range, "this challenge has no answer: add use, trust, default, reject, cancel or ask")
            }
            return
        }
        if case .trust = rule.action { rule.action = .trust(terms.trust(until: rule.predicates.until.day)) }
        rule.answerTerms = terms.login
        let source = RuleDraft.Challenge(node: directive.node, answer: answer)
        if source.said(.attempts) == nil { rule.attempts = rule.usualAttempts }
        draft.configuration.challenges.append(rule)
        draft.challenges.append(source)
    }

    private func read(
        _ modifier: ChallengeDirective.Modifier, _ directive: Directive<ChallengeDirective>,
        _ rule: inout Configuration.ChallengeRule, _ terms: inout AnswerReader
    ) {
        guard let value = directive.values.first else { return terms.read(modifier, directive) }
        switch modifier {
        case .attempts: parse.number(value, Self.attempts).map { rule.attempts = $0 }
        case .retry: retry(directive.values).map { rule.retry = $0 }
        case .probe: probe(value).map { rule.probe = $0 }
        case .persistence: parse.keyword(value, Persistence.self).map { rule.persistence = $0 }
        case .preempt: preemption(value).map { rule.preemption = $0 }
        case .learn: parse.yesOrNo(value).map { rule.learns = $0 }
        case .mode: rule.mode = parse.keyword(value, Configuration.Mode.self)
        case .authorization:
            parse.keyword(value, Configuration.ChallengeRule.Authorization.self).map { rule.authorization = $0 }
        case .order: rule.order += order(directive.values)
        default: terms.read(modifier, directive)
        }
    }

    private func order(_ values: [Value]) -> [AuthenticationMethod] {
        var order: [AuthenticationMethod] = []
        for value in values {
            guard let method = parse.method(value) else { continue }
            if order.contains(method) { refuse(value, "\(value.shown) is written twice") }
            if MethodSet.tls.contains(method) {
                refuse(value, "'order' cannot name \(value.shown): it is not a method of a response")
            } else if method == .other {
                refuse(value, "'order' cannot name \(value.shown): it is always tried last")
            }
            order.append(method)
        }
        return order
    }

    private func preemption(_ value: Value) -> Configuration.ChallengeRule.Preemption? {
        if let word = Configuration.ChallengeRule.Preemption(rawValue: value.text) { return word }
        let words = Configuration.ChallengeRule.Preemption.allCases.map(\.rawValue)
        let isTrue = ["on", "true", "1"].contains(value.text)
        let isFalse = ["off", "false", "0", "never"].contains(value.text)
        refuse(
            value, "\(value.shown) is none of 'yes', 'no' and 'always'",
            suggestion: isTrue ? "yes" : isFalse ? "no" : Suggestion.nearest(to: value.text, among: words))
        return nil
    }

    /// Parses `never`, or the time after each refusal until the next attempt.
    private func retry(_ values: [Value]) -> [Milliseconds]? {
        let never = values.first { $0.text == "never" }
        if let never, values.count > 1 { refuse(never, "'never' stands alone") }
        if values.count > Self.mostRetries {
            refuse(values[Self.mostRetries], "no more than \(Self.mostRetries) durations")
        }
        if never != nil { return [] }
        let times = values.compactMap(retryTime)
        return times.count == values.count ? times : nil
    }

    private func retryTime(_ value: Value) -> Milliseconds? {
        guard value.text.utf8.first?.isDigit == true else {
            let isNever = ["no", "none", "off"].contains(value.text)
            refuse(
                value, "\(value.shown) is neither 'never' nor a duration such as 30s, 5m or 1h",
                suggestion: isNever ? "never" : Suggestion.nearest(to: value.text, among: ["never"]))
            return nil
        }
        guard let time = parse.duration(value) else { return nil }
        if (.seconds(1)...Milliseconds.hours(24)).contains(time) { return time }
        refuse(value, "\(value.shown) is not a duration from 1s to 24h")
        return nil
    }

    /// Parses `no`, or the path of the probe.
    private func probe(_ value: Value) -> Configuration.ChallengeRule.Probe? {
        if value.text == "no" { return .no }
        let isWord =
            !value.text.isEmpty
            && value.text.utf8.allSatisfy { $0 > .space && $0 < .delete && $0 != UInt8(ascii: "#") }
        if isWord, value.text.hasPrefix("/"), value.text.utf8.count <= Self.longestProbe { return .path(value.text) }
        let isNo = ["never", "none", "off"].contains(value.text)
        refuse(
            value, "\(value.shown) is neither 'no' nor a path such as /status", suggestion: isNo ? "no" : nil)
        return nil
    }

    private func action(_ word: ChallengeDirective.Answer, _ values: [Value]) -> Configuration.ChallengeRule.Action {
        switch word {
        case .use: use(values)
        case .trust: .trust(Configuration.TrustTerms())
        case .reject: .reject
        case .cancel: .cancel
        case .ask: .ask
        case .default: .performDefault
        }
    }

    private func use(_ values: [Value]) -> Configuration.ChallengeRule.Action {
        var names: [String] = []
        for value in values {
            if names.contains(value.text) { refuse(value, "\(value.shown) is written twice") }
            names.append(value.text)
            if names.count == Self.mostNames + 1 { refuse(value, "no more than \(Self.mostNames) credentials") }
        }
        return names.isEmpty ? .performDefault : .use(names)
    }

    /// The numbers allowed for `attempts`.
    static let attempts = 1...10
    /// The limit of names in one `use`.
    private static let mostNames = 8
    /// The limit of a probe's path in bytes.
    private static let longestProbe = 1000
    /// The limit of times in one `retry`.
    private static let mostRetries = 8
}
