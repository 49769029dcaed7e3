import Bytes
import Model

extension RuleChecks {
    /// Checks that the parts of a `challenge` fit together: its method, its answer, and the kind of credential that the
    /// answer names, which may be defined anywhere in the file.
    struct Answers: BlockReader {
        let context: ReadingContext

        /// Reports parts that do not fit together, and sets in each rule what its credential can answer.
        func check(_ draft: inout RuleDraft) {
            let credentials = Dictionary(draft.configuration.credentials.map { (ExactText($0.name), $0) }) { first, _ in
                first
            }
            for (index, source) in draft.challenges.enumerated() {
                let names = draft.configuration.challenges[index].names
                let used = names.compactMap { credentials[ExactText($0)] }
                // A credential that does not exist, or has an error, was already reported.
                guard used.count == names.count else { continue }
                if !used.isEmpty { draft.configuration.challenges[index].abilities = used.map(\.content.methods) }
                draft.configuration.challenges[index].placements = used.flatMap(\.content.placements)
                draft.configuration.challenges[index].signature = used.first?.content.signature?.scheme
                let rule = draft.configuration.challenges[index]
                checkMethods(of: rule, used, source)
                checkSeveral(used, of: rule, source)
                checkPredicates(of: rule, source)
                checkModifiers(of: rule, source)
                checkLogin(of: rule, source)
                checkHelpers(used, of: rule, source)
                Preemptive(context: context).check(rule, used, source)
            }
        }

        /// Reports a method that the rule's answer cannot answer. The rule would be ignored silently.
        private func checkMethods(
            of rule: Configuration.ChallengeRule, _ used: [Configuration.Credential], _ source: RuleDraft.Challenge
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
                    // A rule may name methods of its answer's side that the credential cannot answer, such as
                    // `negotiate ntlm` with a ticket.
                    let side = MethodSet.tls.contains(method) ? MethodSet.tls : .http
                    let isOtherSide = rule.answerable.isDisjoint(with: side)
                    if method == .other && !used.contains(where: \.content.isOfAnyScheme) || method == .serverTrust {
                        let trust = method == .serverTrust ? "'trust', " : ""
                        let helper = method == .other ? " but that of 'helper git', 'bazel' or 'cargo'" : ""
                        let sentence =
                            "no credential answers \(token.shown)\(helper): write \(trust)'default', 'reject' or 'cancel' instead of 'use'"
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

        /// Reports a credential of several that has nothing to answer. It would be skipped silently.
        private func checkSeveral(
            _ used: [Configuration.Credential], of rule: Configuration.ChallengeRule, _ source: RuleDraft.Challenge
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

        /// Reports a rule without `host` whose helper is asked for the server: any server could ask for a credential.
        private func checkHelpers(
            _ used: [Configuration.Credential], of rule: Configuration.ChallengeRule, _ source: RuleDraft.Challenge
        ) {
            guard !rule.predicates.host.isSaid,
                let asked = used.first(where: { $0.content.helper?.kind.asksForServer == true })
            else { return }
            log.report(
                at: source.answer,
                "\(Token.shown(asked.name)) is the credential of a helper, which is asked for each server: add 'host'")
        }

        /// Reports a predicate that cannot match any challenge of the rule's methods. It would be ignored silently.
        private func checkPredicates(of rule: Configuration.ChallengeRule, _ source: RuleDraft.Challenge) {
            var spoken = rule.predicates.method.written ?? (rule.isUse ? rule.answerable : .all)
            if rule.isUse { spoken.remove(MethodSet(.serverTrust)) }
            if rule.trustTerms != nil { spoken.remove(MethodSet(.clientCertificate)) }
            let limiting = rule.predicates.said.filter(\.isOfTLS)
            let wrong = limiting.first { spoken.isDisjoint(with: $0.methods) }
            if let wrong, let node = source.said(wrong), let needed = wrong.methods.methods.first {
                log.report(at: node.name.range, "'\(wrong.rawValue)' needs 'method \(needed)'")
            } else if limiting.count > 1, let node = source.said(limiting[0]) {
                let words = limiting.map { "'\($0.rawValue)'" }.joined(separator: " and ")
                log.report(at: node.name.range, "\(words) exclude each other")
            }
            for name in rule.predicates.said where name.methods != .all && !limiting.contains(name) {
                guard let node = source.said(name) else { continue }
                reportMeaningless(node, forMethods: name.methods, in: rule)
            }
        }

        /// Reports a word without effect on any TLS challenge of the rule.
        private func reportMeaningless(
            _ node: SyntaxNode, forMethods methods: MethodSet, in rule: Configuration.ChallengeRule
        ) {
            let effective = rule.effectiveMethods
            guard MethodSet.tls.isSuperset(of: effective), methods.isDisjoint(with: effective) else { return }
            let challenges = methods.isDisjoint(with: .tls) ? "TLS challenges" : "'server-trust'"
            log.report(at: node.name.range, "remove '\(node.name.text)': it has no effect on \(challenges)")
        }

        private func checkModifiers(of rule: Configuration.ChallengeRule, _ source: RuleDraft.Challenge) {
            let modifiers = [ChallengeDirective.Modifier.allow, .pin, .anchor, .name].compactMap(source.said)
            if rule.trustTerms == nil {
                for node in modifiers + [source.said(.until)].compactMap(\.self) {
                    let sentence = "'\(node.name.text)' needs 'trust', but this challenge says "
                    log.report(at: node.name.range, "\(sentence)'\(rule.action.words)'")
                }
            } else if modifiers.isEmpty {
                // A rule that names a problem and says `trust` seems to allow it, but only `allow` does.
                let forgiven = rule.predicates.finding.values.joined(separator: " ")
                log.report(
                    at: source.answer,
                    "this rule changes nothing: add 'allow', 'pin', 'anchor' or 'name'",
                    suggestion: forgiven.isEmpty ? nil : "allow \(forgiven); trust")
            }
            for word in [ChallengeDirective.Modifier.retry, .probe] {
                guard let node = source.said(word), !rule.isUse, ![.performDefault, .ask].contains(rule.action) else {
                    continue
                }
                let sentence = "'\(word.rawValue)' needs 'use', 'default' or 'ask', but this challenge says "
                return log.report(at: node.name.range, "\(sentence)'\(rule.action.words)'")
            }
            if let node = source.said(.probe), rule.predicates.proxy.wanted == true, case .path = rule.probe {
                log.report(
                    at: node.name.range, "for a parent, 'probe' cannot name a path: write 'probe no', or remove it")
            }
            if let node = source.said(.probe), rule.hasPlaceholder, case .path = rule.probe {
                log.report(
                    at: node.name.range,
                    "'probe' cannot name a path here: only a client's request has the placeholder, so write 'probe no', or remove it"
                )
            }
            for word in [ChallengeDirective.Modifier.probe, .persistence, .preempt, .order, .authorization] {
                if let node = source.said(word) { reportMeaningless(node, forMethods: .http, in: rule) }
            }
            for word in [ChallengeDirective.Modifier.attempts, .retry] {
                guard let node = source.said(word) else { continue }
                reportMeaningless(node, forMethods: Predicates.Failures.methods, in: rule)
            }
        }

        /// Reports a modifier for a method that the challenge does not answer. It would be ignored silently.
        private func checkLogin(of rule: Configuration.ChallengeRule, _ source: RuleDraft.Challenge) {
            let methods =
                switch rule.action {
                case .use, .ask: rule.effectiveMethods
                // A stored password is used for a KDC or a page only if the rule says so.
                case .performDefault:
                    (rule.predicates.method.written ?? []).intersection(MethodSet(.negotiate))
                        .union(rule.effectiveMethods.intersection(MethodSet(.htmlForm)))
                case .reject, .cancel, .trust: MethodSet()
                }
            let words: [(ChallengeDirective.Modifier, AuthenticationMethod)] = [
                (.spn, .negotiate), (.delegate, .negotiate), (.canonicalise, .negotiate), (.form, .htmlForm),
            ]
            for (word, method) in words {
                guard let node = source.said(word), !methods.contains(method) else { continue }
                log.report(at: node.name.range, "'\(word.rawValue)' needs 'method \(method)'")
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
            } else if let authorization = rule.authorization, authorization != .keep {
                report(
                    "'learn' and 'authorization \(authorization.rawValue)' exclude each other: the client's own login must be sent"
                )
            } else if rule.predicates.proxy.wanted == true {
                report("'learn' is for servers: clients do not log in to a parent proxy")
            }
        }
    }
}
