import Bytes
import Model

/// Reads the modifiers of an answer in a `challenge`: those of `trust`, and those of `use` that belong to one method.
/// They are stored until the answer is known that they belong to.
struct AnswerReader: BlockReader {
    let context: ReadingContext
    private var allow: TrustFindings = []
    private var pins: [KeyPin] = []
    private var anchors: [String] = []
    private var hasOnlyItsAnchors = false
    private var name: String?
    private var servicePrincipal: String?
    private var delegates = false
    private var canonicalises = false
    private var form: Configuration.LoginForm?

    init(context: ReadingContext) {
        self.context = context
    }

    func trust(until: Day?) -> Configuration.TrustTerms {
        Configuration.TrustTerms(
            allow: allow, pins: pins, anchors: anchors, hasOnlyItsAnchors: hasOnlyItsAnchors, name: name, until: until)
    }

    /// The terms; nil if there are only defaults.
    var login: Configuration.AnswerTerms? {
        let terms = Configuration.AnswerTerms(
            servicePrincipal: servicePrincipal, delegates: delegates, canonicalises: canonicalises, form: form)
        return terms == Configuration.AnswerTerms() ? nil : terms
    }

    /// Reads one of the modifiers; the rule itself reads the others.
    mutating func read(_ modifier: ChallengeDirective.Modifier, _ directive: Directive<ChallengeDirective>) {
        let first = directive.values.first
        switch modifier {
        case .allow: for value in directive.values { allow(value) }
        case .pin: for value in directive.values { pin(value) }
        case .anchor: anchors(directive.values)
        case .name: name = first.flatMap(verifiedName)
        case .form: form = FormReader(context: context).read(directive.node)
        case .spn: servicePrincipal = first.flatMap(servicePrincipal)
        case .delegate: delegates = first.flatMap(parse.yesOrNo) ?? false
        case .canonicalise: canonicalises = first.flatMap(parse.yesOrNo) ?? false
        default: break
        }
    }

    private mutating func allow(_ value: Value) {
        guard let finding = parse.keyword(value, FindingWord.self)?.findings else { return }
        if allow.isSuperset(of: finding) { refuse(value, "\(value.shown) is written twice") }
        allow.formUnion(finding)
    }

    private mutating func pin(_ value: Value) {
        guard let pin = keyPin(value) else { return }
        if pins.contains(pin) { refuse(value, "this pin is written twice") }
        pins.append(pin)
    }

    private func keyPin(_ value: Value) -> KeyPin? {
        if let pin = KeyPin(value.text) { return pin }
        let text = value.text
        var suggestion: String?
        if text.hasPrefix("sha256//") { suggestion = KeyPin.prefix + text.dropFirst(8) }
        if KeyPin(KeyPin.prefix + text) != nil { suggestion = KeyPin.prefix + text }
        refuse(
            value, "\(value.shown) is not a pin: write 'sha256/' and the SHA-256 of the key in Base64, 44 characters",
            suggestion: suggestion.flatMap { KeyPin($0) }?.description)
        return nil
    }

    private mutating func anchors(_ values: [Value]) {
        var values = values
        if let last = values.last, last.text == "only", !last.isQuoted {
            hasOnlyItsAnchors = true
            values.removeLast()
            if values.isEmpty { refuse(last, "write 'only' after the paths") }
        }
        for value in values {
            if value.text == "only", !value.isQuoted { refuse(value, "write 'only' after the last path") }
            anchors.append(parse.path(value))
        }
    }

    private func verifiedName(_ value: Value) -> String? {
        if value.text.hasPrefix(SPIFFEID.prefix) {
            if let workload = SPIFFEID(value.text) { return "\(workload)" }
            refuse(value, "\(value.shown) is not a SPIFFE ID, such as spiffe://example.org/db")
            return nil
        }
        guard let pattern = parse.hostPattern(value, value.text) else { return nil }
        if let name = pattern.singleHost { return name }
        refuse(value, "\(value.shown) matches many names: write one name")
        return nil
    }

    /// Parses `SERVICE/HOST` or `SERVICE/HOST@REALM`, or `SERVICE@HOST` as GSSAPI writes it.
    private func servicePrincipal(_ value: Value) -> String? {
        let isText = !value.text.isEmpty && value.text.utf8.allSatisfy { $0 > .space && $0 < .delete }
        guard isText, value.text.utf8.contains(where: { $0 == .slash || $0 == UInt8(ascii: "@") }) else {
            refuse(
                value, "\(value.shown) is not a service principal such as HTTP/www.example.com",
                suggestion: isText ? "HTTP/" + value.text : nil)
            return nil
        }
        return value.text
    }
}
