import Bytes

extension RuleParser {
    func challenge(_ directive: Directive<FileDirective>) {
        if configuration.challenges.count >= SyntaxLimits.challenges {
            log.report(at: directive.node.name.range, "more than \(SyntaxLimits.challenges) challenges")
            return
        }
        let name = directive.values.first
        var rule = Configuration.Challenge(rule: reference(name?.text, directive.node))
        var trust = TrustWords()
        var login = LoginWords()
        var answer: SourceRange?
        for inner in directives(ChallengeDirective.self, in: directive.node) {
            let isModifier =
                modifier(inner, &rule) || trustModifier(inner, &trust) || loginModifier(inner, &login)
            if !isModifier, !predicate(inner, &rule) {
                if let answer {
                    let line = sources.file(answer.file)?.line(of: answer.bytes.lowerBound) ?? 0
                    log.report(at: inner.range, "this challenge has its answer already, on line \(line)")
                } else {
                    answer = inner.node.range
                    self.answer(inner, &rule)
                }
            }
        }
        if let name, !challengeNames.insert(name.text).inserted {
            log.report(at: name.range, "a challenge \(name.shown) exists already")
        }
        guard let answer else {
            // A word that is no directive was reported.
            let answers: [ChallengeDirective?] = [.use, .default, .reject, .cancel, .trust, nil]
            let names = directive.node.block?.nodes.map { ChallengeDirective(rawValue: $0.name.text) } ?? []
            if !names.contains(where: { answers.contains($0) }) {
                let range = name?.range ?? directive.node.name.range
                log.report(at: range, "this challenge has no answer: use, trust, default, reject or cancel")
            }
            return
        }
        if case .trust = rule.answer { rule.answer = .trust(trust.terms) }
        rule.answerTerms = login.terms
        configuration.challenges.append(rule)
        challengeSources.append(ChallengeSource(node: directive.node, answer: answer))
    }

    private func predicate(
        _ directive: Directive<ChallengeDirective>, _ rule: inout Configuration.Challenge
    ) -> Bool {
        let values = directive.values
        switch directive.name {
        case .host: rule.hosts += values.compactMap { host($0) }
        case .port:
            if let ports = ports(values, mayBeAny: false) {
                rule.ports = PortSet((rule.ports?.ranges ?? []) + ports.ranges)
            }
        case .protocol: rule.protocols = values.compactMap { keyword($0, ChallengeProtocol.self) }
        case .realm: rule.realms += values.map { TextPattern($0.text) }
        case .method: rule.methods = MethodSet(values.compactMap { method($0) })
        case .proxy: rule.isProxy = values.first.flatMap(yesOrNo)
        case .secure: rule.isSecure = values.first.flatMap(yesOrNo)
        case .client: rule.clients += values.compactMap(client)
        case .issuer: rule.issuers += values.map { TextPattern($0.text) }
        case .finding: rule.findings = values.compactMap { keyword($0, TrustFinding.self) }
        case .failures: rule.failures = values.first.flatMap(failures)
        default: return false
        }
        return true
    }

    private func modifier(
        _ directive: Directive<ChallengeDirective>, _ rule: inout Configuration.Challenge
    ) -> Bool {
        typealias Challenge = Configuration.Challenge
        guard let value = directive.values.first else { return false }
        switch directive.name {
        case .attempts: number(value, 1...10).map { rule.attempts = $0 }
        case .persistence: keyword(value, Challenge.Persistence.self).map { rule.persistence = $0 }
        case .preempt: yesOrNo(value).map { rule.isPreemptive = $0 }
        case .learn: yesOrNo(value).map { rule.learns = $0 }
        case .authorization: keyword(value, Challenge.Authorization.self).map { rule.authorization = $0 }
        case .order:
            for value in directive.values {
                guard let method = method(value) else { continue }
                if rule.order.contains(method) { refuse(value, "\(value.shown) is said already") }
                if MethodSet.tls.contains(method) {
                    refuse(value, "\(value.shown) is no challenge of a response; those can be put in order")
                } else if method == .unknown {
                    refuse(value, "answering \(value.shown) is not supported yet")
                }
                rule.order.append(method)
            }
        default: return false
        }
        return true
    }

    private func answer(_ directive: Directive<ChallengeDirective>, _ rule: inout Configuration.Challenge) {
        switch directive.name {
        case .use:
            guard let value = directive.values.first else { return }
            rule.answer = .use(value.text)
            uses.append((value.text, value.range))
        case .trust: rule.answer = .trust(TrustTerms())
        case .reject: rule.answer = .reject
        case .cancel: rule.answer = .cancel
        default: rule.answer = .performDefault
        }
    }

    private func host(_ value: Value) -> HostPattern? {
        let parts = value.text.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count == 2, let port = Self.port(String(parts[1])) {
            let hint = value.origin == .written ? "port \(port)" : "port"
            refuse(value, "a host stands without its port; say '\(hint)' beside it", suggestion: String(parts[0]))
            return nil
        }
        return hostPattern(value, value.text)
    }

    private func method(_ value: Value) -> ChallengeMethod? {
        if let method = ChallengeMethod(value.text) { return method }
        let words = ChallengeMethod.allCases.map(\.description)
        refuse(
            value, "\(value.shown) is no authentication method",
            suggestion: Suggestion.nearest(to: value.text, among: words))
        return nil
    }

    /// A text in quotes is a user's name, whatever it looks like.
    private func client(_ value: Value) -> ClientPattern? {
        if value.isQuoted, value.origin == .written { return .user(TextPattern(value.text)) }
        do throws(AddressPrefix.Fault) {
            return .addresses(try AddressPrefix(value.text))
        } catch {
            guard case .notAnAddress = error else {
                refuse(value, error, of: value.text)
                return nil
            }
            return .user(TextPattern(value.text))
        }
    }

    /// `N`, `N..` or `N..M`: how many answers of this task were refused before.
    private func failures(_ value: Value) -> ClosedRange<Int>? {
        let text = Array(value.text.utf8)
        if let dots = text.firstIndex(ofWord: "..") {
            let low = Self.decimal(String(decoding: text[..<dots], as: UTF8.self))
            let rest = String(decoding: text[(dots + 2)...], as: UTF8.self)
            let high = rest.isEmpty ? Int.max : Self.decimal(rest)
            if let low, let high, low <= high { return low...high }
        } else if let number = Self.decimal(value.text) {
            return number...number
        }
        refuse(value, "\(value.shown) is not a number of failures or a range such as 1.. or 0..1")
        return nil
    }
}
