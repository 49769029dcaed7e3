import Bytes
import Model

enum ChallengeDirective: String, DirectiveName {
    // Predicates.
    case host
    case port
    case `protocol`
    case realm
    case method
    case proxy
    case secure
    case client
    case issuer
    case finding
    case failures
    // Answers.
    case use
    case `default`
    case reject
    case cancel
    case ask
    case trust
    case form
    // Modifiers.
    case attempts
    case retry
    case probe
    case persistence
    case preempt
    case order
    case authorization
    case spn
    case delegate
    case canonicalise
    case learn
    case mode
    case allow
    case pin
    case anchor
    case name
    case until

    static let block: String? = "challenge"

    var grammar: DirectiveGrammar {
        switch self {
        case .host: .some("host patterns", repeats: true)
        case .port: .some("ports", repeats: true)
        case .protocol: .some("'http', 'https', 'ftp' or 'socks'")
        case .realm: .some("realms, where '*' matches any characters", repeats: true)
        case .method: .some("authentication methods")
        case .proxy, .secure: .one("'yes' or 'no'")
        case .preempt: .one("'yes', 'no' or 'always'")
        case .client: .some("user names, addresses or blocks", repeats: true)
        case .issuer: .some("distinguished names, where '*' matches any characters", repeats: true)
        case .finding: .some("problems of a certificate, such as expired")
        case .failures: .one("a number, or a range such as 1.. or 0..1")
        case .use: .some("the name of a credential", repeats: true)
        case .default, .reject, .cancel, .ask, .trust: .none(repeats: true)
        case .allow: .some("problems of a certificate, such as expired", repeats: true)
        case .pin: .some("pins such as sha256/BASE64", repeats: true)
        case .anchor: .some("paths, and perhaps 'only'", .path)
        case .name: .one("a host name or an address")
        case .until: .one("a day such as 2027-01-31")
        case .attempts: .one("a number")
        case .retry: .some("'never', or durations such as 30s 5m 30m")
        case .probe: .one("'no', or a path such as /status")
        case .persistence: .one("'none', 'session' or 'permanent'")
        case .order: .some("authentication methods")
        case .authorization: .one("'keep' or 'replace'")
        case .form: .block()
        case .spn: .one("a service principal such as HTTP/www.example.com")
        case .delegate, .canonicalise: .one("'yes' or 'no'")
        case .learn: .one("'yes' or 'no'")
        case .mode: .one("'enforce' or 'report'")
        }
    }
}

/// `challenge`.
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
            let isModifier = modifier(inner, &rule) || terms.read(inner)
            if !isModifier, !predicate(inner, &rule) {
                if let answer {
                    let line = context.sources.file(answer.file)?.line(of: answer.bytes.lowerBound) ?? 0
                    log.report(at: inner.range, "this challenge already has an answer, on line \(line)")
                } else {
                    answer = inner.node.range
                    rule.action = self.action(inner)
                    if inner.name == .use { draft.uses += inner.values.map { ($0.text, $0.range) } }
                }
            }
        }
        if let name, !draft.challengeNames.insert(name.text).inserted {
            log.report(at: name.range, "there is already a challenge \(name.shown)")
        }
        guard let answer else {
            // A word that is no directive was reported.
            let answers: [ChallengeDirective?] = [.use, .default, .reject, .cancel, .ask, .trust, nil]
            let names = directive.node.block?.nodes.map { ChallengeDirective(rawValue: $0.name.text) } ?? []
            if !names.contains(where: { answers.contains($0) }) {
                let range = name?.range ?? directive.node.name.range
                log.report(at: range, "this challenge has no answer: add use, trust, default, reject, cancel or ask")
            }
            return
        }
        if case .trust = rule.action { rule.action = .trust(terms.trust) }
        rule.answerTerms = terms.login
        let source = ChallengeSource(node: directive.node, answer: answer)
        if source.said(.attempts) == nil { rule.attempts = rule.usualAttempts }
        draft.configuration.challenges.append(rule)
        draft.challenges.append(source)
    }

    private func predicate(
        _ directive: Directive<ChallengeDirective>, _ rule: inout Configuration.ChallengeRule
    ) -> Bool {
        let values = directive.values
        switch directive.name {
        case .host: rule.hosts += values.compactMap { host($0) }
        case .port:
            if let ports = parse.ports(values, mayBeAny: false) {
                rule.ports = PortSet((rule.ports?.ranges ?? []) + ports.ranges)
            }
        case .protocol: rule.protocols = values.compactMap { parse.keyword($0, NetworkProtocol.self) }
        case .realm: rule.realms += values.map { TextPattern($0.text) }
        case .method: rule.methods = MethodSet(values.flatMap { methods($0) })
        case .proxy: rule.isProxy = values.first.flatMap(parse.yesOrNo)
        case .secure: rule.isSecure = values.first.flatMap(parse.yesOrNo)
        case .client: rule.clients += values.compactMap(client)
        case .issuer: rule.issuers += values.map { TextPattern($0.text) }
        case .finding: rule.findings = values.compactMap { parse.keyword($0, FindingWord.self) }
        case .failures: rule.failures = values.first.flatMap(failures)
        default: return false
        }
        return true
    }

    private func modifier(
        _ directive: Directive<ChallengeDirective>, _ rule: inout Configuration.ChallengeRule
    ) -> Bool {
        typealias Rule = Configuration.ChallengeRule
        guard let value = directive.values.first else { return false }
        switch directive.name {
        case .attempts: parse.number(value, Self.attempts).map { rule.attempts = $0 }
        case .retry: retry(directive.values).map { rule.retry = $0 }
        case .probe: probe(value).map { rule.probe = $0 }
        case .persistence: parse.keyword(value, Persistence.self).map { rule.persistence = $0 }
        case .preempt: preemption(value).map { rule.preemption = $0 }
        case .learn: parse.yesOrNo(value).map { rule.learns = $0 }
        case .mode: rule.mode = parse.keyword(value, Configuration.Mode.self)
        case .authorization: parse.keyword(value, Rule.Authorization.self).map { rule.authorization = $0 }
        case .order:
            for value in directive.values {
                guard let method = method(value) else { continue }
                if rule.order.contains(method) { refuse(value, "\(value.shown) is written twice") }
                if MethodSet.tls.contains(method) {
                    refuse(value, "'order' cannot name \(value.shown): it is not a method of a response")
                } else if method == .other {
                    refuse(value, "'order' cannot name \(value.shown): it is always tried last")
                }
                rule.order.append(method)
            }
        default: return false
        }
        return true
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

    /// `never`, or how long after each refusal the next attempt is made.
    private func retry(_ values: [Value]) -> [Int]? {
        let never = values.first { $0.text == "never" }
        if let never, values.count > 1 { refuse(never, "'never' stands alone") }
        if values.count > Self.mostRetries {
            refuse(values[Self.mostRetries], "no more than \(Self.mostRetries) durations")
        }
        if never != nil { return [] }
        let times = values.compactMap(retryTime)
        return times.count == values.count ? times : nil
    }

    private func retryTime(_ value: Value) -> Int? {
        guard value.text.utf8.first?.isDigit == true else {
            let isNever = ["no", "none", "off"].contains(value.text)
            refuse(
                value, "\(value.shown) is neither 'never' nor a duration such as 30s, 5m or 1h",
                suggestion: isNever ? "never" : Suggestion.nearest(to: value.text, among: ["never"]))
            return nil
        }
        guard let time = parse.duration(value) else { return nil }
        let milliseconds = Int(time / .milliseconds(1))
        if (1000...86_400_000).contains(milliseconds) { return milliseconds }
        refuse(value, "\(value.shown) is not a duration from 1s to 24h")
        return nil
    }

    /// `no`, or the path of the request that asks.
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

    private func action(_ directive: Directive<ChallengeDirective>) -> Configuration.ChallengeRule.Action {
        switch directive.name {
        case .use: use(directive.values)
        case .trust: .trust(TrustTerms())
        case .reject: .reject
        case .cancel: .cancel
        case .ask: .ask
        default: .performDefault
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

    private func host(_ value: Value) -> HostPattern? {
        let parts = value.text.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count == 2, let port = ValueParser.port(String(parts[1])) {
            let hint = value.source == .written ? "port \(port)" : "port"
            refuse(value, "write the host without its port, and add '\(hint)'", suggestion: String(parts[0]))
            return nil
        }
        return parse.hostPattern(value, value.text)
    }

    private func methods(_ value: Value) -> [AuthenticationMethod] {
        if value.text == AuthenticationMethod.default.rawValue { return AuthenticationMethod.ofPasswords }
        return method(value).map { [$0] } ?? []
    }

    private func method(_ value: Value) -> AuthenticationMethod? {
        if let method = AuthenticationMethod(rawValue: value.text), method != .default { return method }
        let words = AuthenticationMethod.allCases.filter { $0 != .default }.map(\.description)
        let isOther = ["unknown", "any"].contains(value.text)
        refuse(
            value, "unknown method \(value.shown)",
            suggestion: isOther ? "other" : Suggestion.nearest(to: value.text, among: words))
        return nil
    }

    /// A text in quotes is a user's name, whatever it looks like.
    private func client(_ value: Value) -> ClientPattern? {
        if value.isQuoted, value.source == .written { return .user(TextPattern(value.text)) }
        do throws(AddressPrefix.Fault) {
            return .addresses(try AddressPrefix(value.text))
        } catch {
            guard case .notAnAddress = error else {
                parse.refuse(value, error, of: value.text)
                return nil
            }
            return .user(TextPattern(value.text))
        }
    }

    /// `N`, `N..` or `N..M`: how many answers of this task were refused before.
    private func failures(_ value: Value) -> ClosedRange<Int>? {
        let text = Array(value.text.utf8)
        if let dots = text.firstIndex(ofWord: "..") {
            let low = ValueParser.decimal(String(decoding: text[..<dots], as: UTF8.self))
            let rest = String(decoding: text[(dots + 2)...], as: UTF8.self)
            let high = rest.isEmpty ? Int.max : ValueParser.decimal(rest)
            if let low, let high, low <= high { return low...high }
        } else if let number = ValueParser.decimal(value.text) {
            return number...number
        }
        refuse(value, "\(value.shown) is not a number of failures or a range such as 1.. or 0..1")
        return nil
    }

    /// The numbers that `attempts` may say.
    static let attempts = 1...10
    /// Of one `use`.
    private static let mostNames = 8
    /// Bytes.
    private static let longestProbe = 1000
    /// Of one `retry`.
    private static let mostRetries = 8
}
