import Bytes

/// `trust` and its modifiers.
extension RuleParser {
    /// What is said of trust, until the answer is known that it belongs to.
    struct TrustWords {
        var allow: TrustFindings = []
        var pins: [KeyPin] = []
        var anchors: [String] = []
        var hasOnlyItsAnchors = false
        var name: String?
        var until: Day?

        var terms: TrustTerms {
            TrustTerms(
                allow: allow, pins: pins, anchors: anchors, hasOnlyItsAnchors: hasOnlyItsAnchors, name: name,
                until: until)
        }
    }

    func trustModifier(_ directive: Directive<ChallengeDirective>, _ words: inout TrustWords) -> Bool {
        guard let first = directive.values.first else { return false }
        switch directive.name {
        case .allow:
            for value in directive.values {
                guard let finding = keyword(value, TrustFinding.self).map({ TrustFindings($0) }) else { continue }
                if words.allow.isSuperset(of: finding) { refuse(value, "\(value.shown) is said already") }
                words.allow.formUnion(finding)
            }
        case .pin:
            for value in directive.values {
                guard let pin = pin(value) else { continue }
                if words.pins.contains(pin) { refuse(value, "this pin is said already") }
                words.pins.append(pin)
            }
        case .anchor: anchors(directive.values, &words)
        case .name: words.name = verifiedName(first)
        case .until: words.until = day(first)
        default: return false
        }
        return true
    }

    private func pin(_ value: Value) -> KeyPin? {
        if let pin = KeyPin(value.text) { return pin }
        let text = value.text
        var suggestion: String?
        if text.hasPrefix("sha256//") { suggestion = KeyPin.prefix + text.dropFirst(8) }
        if KeyPin(KeyPin.prefix + text) != nil { suggestion = KeyPin.prefix + text }
        refuse(
            value, "\(value.shown) is no pin: 'sha256/' and the 44 characters of a key's SHA-256 in Base64",
            suggestion: suggestion.flatMap { KeyPin($0) }?.description)
        return nil
    }

    private func anchors(_ values: [Value], _ words: inout TrustWords) {
        var values = values
        if let last = values.last, last.text == "only", !last.isQuoted {
            words.hasOnlyItsAnchors = true
            values.removeLast()
            if values.isEmpty { refuse(last, "'only' stands behind the paths of the anchors") }
        }
        for value in values {
            if value.text == "only", !value.isQuoted { refuse(value, "'only' stands behind the last path") }
            words.anchors.append(path(value))
        }
    }

    private func verifiedName(_ value: Value) -> String? {
        guard let pattern = hostPattern(value, value.text) else { return nil }
        if let name = pattern.singleHost { return name }
        refuse(value, "\(value.shown) stands for many names; a certificate is held against one")
        return nil
    }

    private func day(_ value: Value) -> Day? {
        if let day = Day(value.text) { return day }
        refuse(value, "\(value.shown) is not a day such as 2027-01-31")
        return nil
    }
}
