/// Whether what a `challenge` says fits together: its method, its answer, and the kind of credential that the answer
/// names, which may stand anywhere in the file.
extension RuleParser {
    func checkAnswers() {
        for (index, source) in challengeSources.enumerated() {
            var credential: Configuration.Credential?
            if case .use(let name) = configuration.challenges[index].answer {
                credential = configuration.credential(named: name)
                // A credential that does not exist, or has an error, was reported.
                guard let credential else { continue }
                configuration.challenges[index].answerable = credential.content.methods
            }
            let rule = configuration.challenges[index]
            checkMethods(of: rule, credential, source)
            checkPredicates(of: rule, source)
            checkModifiers(of: rule, source)
            checkLogin(of: rule, source)
        }
    }

    /// A rule that promises an answer to a method which cannot be answered would be ignored in silence.
    private func checkMethods(
        of rule: Configuration.Challenge, _ credential: Configuration.Credential?, _ source: ChallengeSource
    ) {
        let tokens = source.said(.method)?.arguments ?? []
        let methods = tokens.compactMap { token in ChallengeMethod(token.text).map { (method: $0, token: token) } }
        let isAnswered = methods.contains { rule.answerable.contains($0.method) }
        for (method, token) in methods {
            switch rule.answer {
            case .use(let name):
                // A rule may leave methods of its answer's side to be passed by, such as `negotiate ntlm` with a ticket.
                let isOtherSide = MethodSet.tls.contains(method) != rule.answerable.contains(.clientCertificate)
                if method == .serverTrust {
                    let sentence = "no credential answers \(token.shown), but 'trust', 'default', 'reject' or 'cancel'"
                    log.report(at: token.range, sentence)
                } else if !rule.answerable.contains(method), isOtherSide || !isAnswered, let credential {
                    let sentence = "\(Token.shown(name)) is \(credential.content.words), which cannot answer this"
                    log.report(at: token.range, sentence)
                } else if method == .unknown {
                    log.report(at: token.range, "answering \(token.shown) is not supported yet")
                }
            case .trust:
                if method != .serverTrust { log.report(at: token.range, "'trust' answers 'server-trust' alone") }
            case .performDefault, .reject, .cancel: break
            }
        }
    }

    private func checkPredicates(of rule: Configuration.Challenge, _ source: ChallengeSource) {
        let spoken = rule.methods ?? (rule.isUse ? rule.answerable : .all)
        let certificate = source.said(.issuer)
        let trust = source.said(.finding)
        if let certificate, rule.trustTerms != nil || !spoken.contains(.clientCertificate) {
            let sentence = "'issuer' speaks of 'client-certificate', and this challenge of something else"
            log.report(at: certificate.name.range, sentence)
        } else if let trust, rule.isUse || !spoken.contains(.serverTrust) {
            log.report(at: trust.name.range, "'finding' speaks of 'server-trust', and this challenge of something else")
        } else if let certificate, trust != nil {
            log.report(at: certificate.name.range, "no challenge has both issuers and findings")
        }
        guard MethodSet.tls.isSuperset(of: rule.effectiveMethods) else { return }
        for predicate in [ChallengeDirective.realm, .failures] {
            guard let node = source.said(predicate) else { continue }
            log.report(at: node.name.range, "'\(predicate.rawValue)' means nothing to a challenge of TLS")
        }
    }

    private func checkModifiers(of rule: Configuration.Challenge, _ source: ChallengeSource) {
        let modifiers: [ChallengeDirective] = [.allow, .pin, .anchor, .name, .until]
        if rule.trustTerms == nil {
            for modifier in modifiers {
                guard let node = source.said(modifier) else { continue }
                let sentence = "'\(modifier.rawValue)' goes with 'trust', and this challenge says "
                log.report(at: node.name.range, "\(sentence)'\(rule.answerWords)'")
            }
        } else if !modifiers.contains(where: { source.said($0) != nil && $0 != .until }) {
            // Who asks for a finding and says `trust` wants it forgiven, but only what is allowed is.
            let forgiven = rule.findings.map(\.rawValue).joined(separator: " ")
            log.report(
                at: source.answer,
                "this trusts what is trusted anyway: say what to 'allow', or 'pin', 'anchor' or 'name'",
                suggestion: forgiven.isEmpty ? nil : "allow \(forgiven); trust")
        }
        guard MethodSet.tls.isSuperset(of: rule.effectiveMethods) else { return }
        for modifier in [ChallengeDirective.attempts, .persistence, .preempt, .order, .authorization] {
            guard let node = source.said(modifier) else { continue }
            log.report(at: node.name.range, "'\(modifier.rawValue)' means nothing to a challenge of TLS")
        }
    }
}
