import Model

extension RuleChecks {
    /// Checks that a preemptive credential goes to one known place. Otherwise it would be shown to any server there.
    struct Preemptive: BlockReader {
        let context: ReadingContext

        func check(
            _ rule: Configuration.ChallengeRule, _ used: [Configuration.Credential], _ source: RuleDraft.Challenge
        ) {
            if let signer = used.first, let signature = signer.content.signature {
                return check(rule, signer, signature.scheme, source)
            }
            let placed = used.first { !$0.content.placements.isEmpty }
            let hasPlaceholder = placed?.content.placements.contains(where: \.isPlaceholder) ?? false
            let said = source.said(.preempt)
            if let placed, let said, hasPlaceholder {
                return log.report(
                    at: said.range,
                    "\(Token.shown(placed.name)) goes only where a client has written its placeholder: remove 'preempt'"
                )
            }
            if let placed, let said, rule.preemption != .always {
                return log.report(
                    at: said.arguments.first?.range ?? said.range,
                    "\(Token.shown(placed.name)) is always preemptive: write 'preempt always', or remove 'preempt'")
            }
            let subject: String
            let range: SourceRange
            if rule.preemption == .always, let said {
                subject = "'preempt always'"
                range = said.range
                guard rule.isUse else {
                    let sentence = "'preempt always' needs 'use', but this challenge says '\(rule.action.words)'"
                    return log.report(at: range, sentence)
                }
            } else if let placed {
                let way = hasPlaceholder ? "replaces a placeholder" : "is sent preemptively"
                subject = "\(Token.shown(placed.name)), which \(way),"
                range = source.answer
            } else {
                return
            }
            if let sentence = fault(of: rule, isPlaced: placed != nil) {
                return log.report(at: range, "\(subject) \(sentence)")
            }
            checkPredicates(of: rule, subject, source)
            if placed == nil { checkMethods(of: rule, used, source, range) }
        }

        /// Checks a rule whose credential signs requests. The signature is shown to the servers of the rule, the key is
        /// not.
        private func check(
            _ rule: Configuration.ChallengeRule, _ signer: Configuration.Credential, _ scheme: SignatureSource.Scheme,
            _ source: RuleDraft.Challenge
        ) {
            let name = Token.shown(signer.name)
            if let said = source.said(.preempt), rule.preemption == .always, scheme != .message {
                return log.report(
                    at: said.range, "\(name) is \(signer.content.words), which signs every request: remove 'preempt'")
            }
            if rule.predicates.proxy.wanted == true {
                return log.report(
                    at: source.answer, "\(name) is \(signer.content.words), which is for servers: remove 'proxy'")
            }
            if signer.content.sendsSecrets, rule.predicates.secure.wanted != true,
                !rule.predicates.host.staysOnThisMachine
            {
                log.report(
                    at: source.answer, "\(name) needs 'secure yes': http sends the secrets of 'plaintext' unencrypted")
            }
            checkPredicates(of: rule, "\(name), which signs requests,", source)
        }

        /// - Parameter isPlaced: whether the credential has its own place in requests, which a parent would pass on.
        private func fault(of rule: Configuration.ChallengeRule, isPlaced: Bool) -> String? {
            if rule.predicates.proxy.wanted == true, isPlaced {
                return "is for servers: a parent proxy reads only Proxy-Authorization"
            }
            if rule.predicates.host.isForAny { return "needs 'host', so that no other server gets the credential" }
            if rule.predicates.secure.wanted != true, !rule.predicates.host.staysOnThisMachine {
                if rule.predicates.proxy.wanted != true {
                    return "needs 'secure yes': http sends the credential unencrypted"
                }
                if rule.predicates.secure.wanted == nil {
                    return
                        "needs 'secure yes' for a parent by https; with 'secure no', http sends the credential unencrypted"
                }
            }
            let schemes: [NetworkProtocol] = [.http, .https]
            if rule.predicates.protocol.isSaid,
                !rule.predicates.protocol.protocols.contains(where: schemes.contains)
            {
                return "is for http and https: other protocols always ask for a login"
            }
            return nil
        }

        private func checkPredicates(
            of rule: Configuration.ChallengeRule, _ subject: String, _ source: RuleDraft.Challenge
        ) {
            for predicate in rule.predicates.said where predicate != .method && predicate.type.needsChallenge {
                guard let node = source.said(predicate) else { continue }
                log.report(
                    at: node.name.range, "\(subject) answers no challenge: remove '\(predicate.rawValue)'")
            }
        }

        /// Checks the methods: only those whose answer needs nothing from a challenge are allowed.
        private func checkMethods(
            of rule: Configuration.ChallengeRule, _ used: [Configuration.Credential], _ source: RuleDraft.Challenge,
            _ range: SourceRange
        ) {
            guard let credential = used.first else { return }
            if used.count > 1 {
                return log.report(
                    at: range, "'preempt always' sends one credential, but this challenge names \(used.count)")
            }
            let possible: [AuthenticationMethod]
            let needed: String
            switch credential.content {
            case .token, .oauth, .signature: return
            case .password: (possible, needed) = ([.basic], "a password needs 'method basic'")
            case .helper where credential.content.isOfAnyScheme:
                (possible, needed) = ([.basic, .bearer, .other], "a helper needs 'method basic', 'bearer' or 'other'")
            case .helper:
                (possible, needed) = ([.basic, .bearer], "a helper needs 'method basic' or 'method bearer'")
            case .identity, .kerberos, .placed, .registry:
                return log.report(
                    at: range,
                    "\(Token.shown(credential.name)) is \(credential.content.words), which 'preempt always' cannot send"
                )
            }
            guard let methods = source.said(.method) else {
                return log.report(at: range, "'preempt always' with \(needed)")
            }
            for token in methods.arguments where !possible.map(\.rawValue).contains(token.text) {
                log.report(at: token.range, "\(token.shown) cannot be sent preemptively: it needs a challenge")
            }
        }
    }
}
