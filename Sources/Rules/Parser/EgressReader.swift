import Bytes
import Model

/// Reads `egress`.
struct EgressReader: BlockReader {
    enum Word: String, DirectiveName {
        case deny
        case allow
        case connectPorts = "connect-ports"

        static let block: String? = "egress"

        var grammar: DirectiveGrammar {
            switch self {
            case .deny, .allow: .some("address classes, addresses or blocks such as 10.0.0.0/8", repeats: true)
            case .connectPorts: .some("ports or 'any'")
            }
        }
    }

    let context: ReadingContext

    /// Adds a block to those before it. The ports of all blocks are permitted.
    func read(_ node: SyntaxNode, into draft: inout RuleDraft) {
        for directive in context.directives(EgressReader.Word.self, in: node) {
            switch directive.name {
            case .allow, .deny:
                let verdict: Configuration.Egress.Verdict = directive.name == .allow ? .allow : .deny
                let rule = context.reference(nil, directive.node)
                for value in directive.values {
                    guard let entry = entry(value, verdict, rule) else { continue }
                    draft.configuration.egress.entries.append(entry)
                    draft.egress.append(value.range)
                }
            case .connectPorts:
                guard let ports = parse.ports(directive.values, mayBeAny: true) else { continue }
                let former = draft.configuration.egress.connectPorts
                draft.configuration.egress.connectPorts = draft.hasConnectPorts ? former.union(ports) : ports
                draft.hasConnectPorts = true
            }
        }
    }

    private func entry(
        _ value: Value, _ verdict: Configuration.Egress.Verdict, _ rule: RuleReference
    ) -> Configuration.Egress.Entry? {
        guard let (host, port) = parse.splitPort(value) else { return nil }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let text = isBracketed ? String(host.dropFirst().dropLast()) : host
        let rule = RuleReference(name: value.text, file: rule.file, line: rule.line)
        if let addressClass = AddressClass(rawValue: text) {
            return .init(
                verdict: verdict, prefixes: addressClass.prefixes, addressClass: addressClass, port: port,
                text: value.text, rule: rule)
        }
        do throws(AddressPrefix.Fault) {
            let prefix = try AddressPrefix(text)
            return .init(
                verdict: verdict, prefixes: [prefix], addressClass: nil, port: port, text: value.text, rule: rule)
        } catch {
            guard case .notAnAddress = error else {
                parse.refuse(value, error)
                return nil
            }
            let classes = AddressClass.allCases.map(\.rawValue)
            let suggestion = Suggestion.nearest(to: text, among: classes)
            let isName = !(text.utf8.last?.isDigit ?? true) && text.contains(".")
            let isHost = suggestion == nil && isName && (try? HostPattern(text)) != nil
            let hint = isHost ? "; to refuse a name, write 'route NAME { deny }'" : ""
            refuse(
                value, "\(value.shown) is not an address, a block or one of \(classes.joined(separator: ", "))\(hint)",
                suggestion: suggestion)
            return nil
        }
    }
}
