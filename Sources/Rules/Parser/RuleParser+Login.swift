import Bytes

/// Modifiers of `use` that belong to one method.
extension RuleParser {
    struct LoginWords {
        var servicePrincipal: String?
        var delegates = false
        var canonicalises = false
        var form: LoginForm?

        /// Nil when nothing is out of the ordinary.
        var terms: AnswerTerms? {
            let terms = AnswerTerms(
                servicePrincipal: servicePrincipal, delegates: delegates, canonicalises: canonicalises, form: form)
            return terms == AnswerTerms() ? nil : terms
        }
    }

    func loginModifier(_ directive: Directive<ChallengeDirective>, _ words: inout LoginWords) -> Bool {
        switch directive.name {
        case .form: words.form = form(directive.node)
        case .spn: words.servicePrincipal = directive.values.first.flatMap(servicePrincipal)
        case .delegate: words.delegates = directive.values.first.flatMap(yesOrNo) ?? false
        case .canonicalise: words.canonicalises = directive.values.first.flatMap(yesOrNo) ?? false
        default: return false
        }
        return true
    }

    /// `SERVICE/HOST` or `SERVICE/HOST@REALM`, or `SERVICE@HOST` as GSSAPI writes it.
    private func servicePrincipal(_ value: Value) -> String? {
        let isText = !value.text.isEmpty && value.text.utf8.allSatisfy { $0 > .space && $0 < .delete }
        guard isText, value.text.utf8.contains(where: { $0 == .slash || $0 == UInt8(ascii: "@") }) else {
            refuse(
                value, "\(value.shown) is no service principal such as HTTP/www.example.com",
                suggestion: isText ? "HTTP/" + value.text : nil)
            return nil
        }
        return value.text
    }

    /// What is said for a method that the challenge does not answer would be ignored in silence.
    func checkLogin(of rule: Configuration.Challenge, _ source: ChallengeSource) {
        let methods =
            switch rule.answer {
            case .use: rule.effectiveMethods
            // With what is stored only a rule that says so has a password taken to a KDC.
            case .performDefault: (rule.methods ?? []).intersection(MethodSet(.negotiate))
            case .reject, .cancel, .trust: MethodSet()
            }
        let words: [(ChallengeDirective, ChallengeMethod)] = [
            (.spn, .negotiate), (.delegate, .negotiate), (.canonicalise, .negotiate), (.form, .htmlForm),
        ]
        for (word, method) in words {
            guard let node = source.said(word), !methods.contains(method) else { continue }
            let sentence = "'\(word.rawValue)' goes with '\(method)', which this challenge does not answer"
            log.report(at: node.name.range, sentence)
        }
        let token = source.said(.method)?.arguments.first { $0.text == ChallengeMethod.htmlForm.description }
        if let token, rule.isUse, source.said(.form) == nil {
            log.report(at: token.range, "'html-form' needs a 'form' beside it")
        }
        if let node = source.said(.learn), rule.learns || rule.answer != .performDefault {
            checkLearning(rule, node)
        }
    }

    private func checkLearning(_ rule: Configuration.Challenge, _ node: SyntaxNode) {
        let report = { (sentence: String) in self.log.report(at: node.name.range, sentence) }
        if rule.answer != .performDefault {
            report("'learn' goes with 'default': it is the client's own answer that is kept")
        } else if !rule.effectiveMethods.contains(.basic) {
            report("'learn' goes with 'basic': a client's answer to other methods does not have the password in it")
        } else if rule.persistence == .none {
            report("'persistence none' keeps nothing of what is learned: say 'session' or 'permanent'")
        } else if rule.authorization == .replace {
            report("'authorization replace' lets no answer of a client's through from which something could be learned")
        } else if rule.isProxy == true {
            report("'learn' goes with origins: a client does not answer a parent proxy")
        }
    }
}
