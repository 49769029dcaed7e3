import Bytes
import Model

/// Whether what a `challenge` says fits together: its method, its answer, and the kind of credential that the answer
/// names, which may stand anywhere in the file.
struct AnswerChecks: BlockReader {
    let context: ReadingContext

    /// Reports what does not fit together, and tells each rule what its credential can answer.
    func check(_ draft: inout RuleDraft) {
        let credentials = Dictionary(draft.configuration.credentials.map { (ExactText($0.name), $0) }) { first, _ in
            first
        }
        for (index, source) in draft.challenges.enumerated() {
            let names = draft.configuration.challenges[index].names
            let used = names.compactMap { credentials[ExactText($0)] }
            // A credential that does not exist, or has an error, was reported.
            guard used.count == names.count else { continue }
            if !used.isEmpty { draft.configuration.challenges[index].abilities = used.map(\.content.methods) }
            draft.configuration.challenges[index].placements = used.flatMap(\.content.placements)
            let rule = draft.configuration.challenges[index]
            checkMethods(of: rule, used, source)
            checkSeveral(used, of: rule, source)
            checkPredicates(of: rule, source)
            checkModifiers(of: rule, source)
            checkLogin(of: rule, source)
            UnaskedChecks(context: context).check(rule, used, source)
        }
    }

    /// A rule that promises an answer to a method which cannot be answered would be ignored in silence.
    private func checkMethods(
        of rule: Configuration.ChallengeRule, _ used: [Configuration.Credential], _ source: ChallengeSource
    ) {
        let tokens = source.said(.method)?.arguments ?? []
        let methods = tokens.compactMap { token in
            AuthenticationMethod(rawValue: token.text).map { method in
                // One of the methods that `default` means is enough.
                let meant = AuthenticationMethod.ofPasswords
                let answered = meant.first { rule.answerable.contains($0) } ?? .basic
                return (method: method == .default ? answered : method, token: token)
            }
        }
        let isAnswered = methods.contains { rule.answerable.contains($0.method) }
        for (method, token) in methods {
            switch rule.action {
            case .use:
                // A rule may leave methods of its answer's side to be passed by, such as `negotiate ntlm` with a ticket.
                let side = MethodSet.tls.contains(method) ? MethodSet.tls : .http
                let isOtherSide = rule.answerable.isDisjoint(with: side)
                if method == .other || method == .serverTrust {
                    let trust = method == .serverTrust ? "'trust', " : ""
                    let sentence =
                        "no credential answers \(token.shown): write \(trust)'default', 'reject' or 'cancel' instead of 'use'"
                    log.report(at: token.range, sentence)
                } else if !rule.answerable.contains(method), isOtherSide || !isAnswered, let first = used.first {
                    let one = "\(Token.shown(first.name)) is \(first.content.words), which cannot answer this"
                    log.report(at: token.range, used.count == 1 ? one : "no credential of 'use' can answer this")
                }
            case .trust:
                if method != .serverTrust { log.report(at: token.range, "'trust' answers 'server-trust' alone") }
            case .performDefault, .reject, .cancel, .ask: break
            }
        }
    }

    /// One of several credentials that has nothing to answer would be passed over in silence.
    private func checkSeveral(
        _ used: [Configuration.Credential], of rule: Configuration.ChallengeRule, _ source: ChallengeSource
    ) {
        guard used.count > 1, let node = source.said(.use) else { return }
        for credential in used {
            let range = node.arguments.first { $0.text == credential.name }?.range ?? source.answer
            let kind = "\(Token.shown(credential.name)) is \(credential.content.words)"
            if credential.content.methods == MethodSet(.default) {
                log.report(at: range, "\(kind), which must be the only credential of 'use'")
            } else if !rule.effectiveMethods.isEmpty, rule.meant(for: credential.content.methods).isEmpty {
                log.report(at: range, "\(kind), which this challenge never uses")
            }
        }
    }

    private func checkPredicates(of rule: Configuration.ChallengeRule, _ source: ChallengeSource) {
        let spoken = rule.methods ?? (rule.isUse ? rule.answerable : .all)
        let certificate = source.said(.issuer)
        let trust = source.said(.finding)
        if let certificate, rule.trustTerms != nil || !spoken.contains(.clientCertificate) {
            let sentence = "'issuer' needs 'method client-certificate'"
            log.report(at: certificate.name.range, sentence)
        } else if let trust, rule.isUse || !spoken.contains(.serverTrust) {
            log.report(at: trust.name.range, "'finding' needs 'method server-trust'")
        } else if let certificate, trust != nil {
            log.report(at: certificate.name.range, "'issuer' and 'finding' exclude each other")
        }
        reportMeaningless([.realm], ofRefusals: [.failures], to: rule, source)
    }

    /// Only a certificate of ours may be refused by a server, of all that TLS asks about.
    private func reportMeaningless(
        _ words: [ChallengeDirective], ofRefusals others: [ChallengeDirective], to rule: Configuration.ChallengeRule,
        _ source: ChallengeSource
    ) {
        guard MethodSet.tls.isSuperset(of: rule.effectiveMethods) else { return }
        for word in words {
            guard let node = source.said(word) else { continue }
            log.report(at: node.name.range, "remove '\(word.rawValue)': it has no effect on TLS challenges")
        }
        for word in others where !rule.effectiveMethods.contains(.clientCertificate) {
            guard let node = source.said(word) else { continue }
            let sentence = "remove '\(word.rawValue)': it has no effect on 'server-trust'"
            log.report(at: node.name.range, sentence)
        }
    }

    private func checkModifiers(of rule: Configuration.ChallengeRule, _ source: ChallengeSource) {
        let modifiers: [ChallengeDirective] = [.allow, .pin, .anchor, .name, .until]
        if rule.trustTerms == nil {
            for modifier in modifiers {
                guard let node = source.said(modifier) else { continue }
                let sentence = "'\(modifier.rawValue)' needs 'trust', but this challenge says "
                log.report(at: node.name.range, "\(sentence)'\(rule.actionWords)'")
            }
        } else if !modifiers.contains(where: { source.said($0) != nil && $0 != .until }) {
            // A rule that names a finding and says `trust` seems to forgive it, but only `allow` does.
            let forgiven = rule.findings.map(\.rawValue).joined(separator: " ")
            log.report(
                at: source.answer,
                "this rule changes nothing: add 'allow', 'pin', 'anchor' or 'name'",
                suggestion: forgiven.isEmpty ? nil : "allow \(forgiven); trust")
        }
        for word in [ChallengeDirective.retry, .probe] {
            guard let node = source.said(word), !rule.isUse, ![.performDefault, .ask].contains(rule.action) else {
                continue
            }
            let sentence = "'\(word.rawValue)' needs 'use', 'default' or 'ask', but this challenge says "
            log.report(at: node.name.range, "\(sentence)'\(rule.actionWords)'")
            return
        }
        if let node = source.said(.probe), rule.isProxy == true, case .path = rule.probe {
            log.report(
                at: node.name.range, "for a parent, 'probe' cannot name a path: write 'probe no', or remove it")
        }
        reportMeaningless(
            [.probe, .persistence, .preempt, .order, .authorization], ofRefusals: [.attempts, .retry], to: rule, source)
    }

    /// A modifier for a method that the challenge does not answer would be ignored in silence.
    private func checkLogin(of rule: Configuration.ChallengeRule, _ source: ChallengeSource) {
        let methods =
            switch rule.action {
            case .use: rule.effectiveMethods
            // With what is stored only a rule that says so has a password taken to a KDC, or to a page.
            case .performDefault:
                (rule.methods ?? []).intersection(MethodSet(.negotiate))
                    .union(rule.effectiveMethods.intersection(MethodSet(.htmlForm)))
            case .ask: rule.effectiveMethods
            case .reject, .cancel, .trust: MethodSet()
            }
        let words: [(ChallengeDirective, AuthenticationMethod)] = [
            (.spn, .negotiate), (.delegate, .negotiate), (.canonicalise, .negotiate), (.form, .htmlForm),
        ]
        for (word, method) in words {
            guard let node = source.said(word), !methods.contains(method) else { continue }
            let sentence = "'\(word.rawValue)' needs 'method \(method)'"
            log.report(at: node.name.range, sentence)
        }
        let token = source.said(.method)?.arguments.first { $0.text == AuthenticationMethod.htmlForm.description }
        if let token, rule.isUse, source.said(.form) == nil {
            log.report(at: token.range, "'html-form' needs a 'form' beside it")
        }
        if let node = source.said(.learn), rule.learns || rule.action != .performDefault {
            checkLearning(rule, node)
        }
    }

    private func checkLearning(_ rule: Configuration.ChallengeRule, _ node: SyntaxNode) {
        let report = { (sentence: String) in self.log.report(at: node.name.range, sentence) }
        if rule.action != .performDefault {
            report("'learn' needs 'default' as the answer")
        } else if !rule.effectiveMethods.contains(.basic) {
            report("'learn' needs 'method basic': other methods do not send the password")
        } else if rule.persistence == .none {
            report("'learn' needs 'persistence session' or 'persistence permanent'")
        } else if rule.authorization == .replace {
            report("'learn' and 'authorization replace' exclude each other: the client's own login must be sent")
        } else if rule.isProxy == true {
            report("'learn' is for servers: clients do not log in to a parent proxy")
        }
    }
}
