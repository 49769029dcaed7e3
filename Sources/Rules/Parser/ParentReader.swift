import Bytes

/// Reads `parent`.
struct ParentReader: BlockReader {
    enum Word: String, DirectiveName {
        case http
        case https
        case socks5
        case socks4a
        case pac
        case credentials
        case except

        static let block: String? = "parent"

        var grammar: DirectiveGrammar {
            switch self {
            case .http, .https, .socks5, .socks4a, .credentials:
                .some("hosts and ports such as proxy.example.com:8080", repeats: true)
            case .pac: .one("a path")
            case .except: .some("host patterns, addresses or blocks", repeats: true)
            }
        }
    }

    let context: ReadingContext

    func read(_ directive: Directive<FileDirective>, into draft: inout RuleDraft) {
        guard let name = directive.values.first else { return }
        var servers: [Configuration.Parent.Server] = []
        var automatic: Value?
        var trusted: [Configuration.HostAndPort] = []
        var exceptions: [HostPattern] = []
        var listed: SourceRange?
        for inner in context.directives(ParentReader.Word.self, in: directive.node) {
            switch inner.name {
            case .http, .https, .socks5, .socks4a:
                listed = listed ?? inner.node.name.range
                guard let scheme = Configuration.Parent.Scheme(rawValue: inner.name.rawValue) else { continue }
                servers += inner.values.compactMap(hostAndPort).map { .init(scheme: scheme, address: $0) }
            case .pac: automatic = inner.values.first
            case .credentials: trusted += inner.values.compactMap(hostAndPort)
            case .except: exceptions += inner.values.compactMap { parse.hostPattern($0, $0.text) }
            }
        }
        if automatic != nil, let listed {
            log.report(at: listed, "'pac' and a list of parents exclude each other")
        }
        checkParts(name, directive.node)
        if name.text.isEmpty || name.text == "direct" {
            refuse(name, name.text.isEmpty ? "a parent needs a name" : "'direct' in a route means no parent")
        } else if let first = draft.parents[name.text] {
            log.report(
                at: name.range, "there is already a parent \(name.shown), at \(context.sources.place(of: first))")
            return
        }
        draft.parents[name.text] = name.range
        draft.configuration.parents.append(
            .init(
                name: name.text, servers: servers, automatic: automatic.map(automaticPlace), trusted: trusted,
                exceptions: exceptions, rule: context.reference(name.text, directive.node)))
    }

    private func checkParts(_ name: Value, _ node: SyntaxNode) {
        let words = node.block?.nodes.map { ParentReader.Word(rawValue: $0.name.text) } ?? []
        guard !words.contains(nil), !words.contains(.pac) else { return }
        if !words.contains(where: { $0.flatMap { Configuration.Parent.Scheme(rawValue: $0.rawValue) } != nil }) {
            log.report(
                at: name.range, "the parent \(name.shown) has no address: add 'http', 'https', 'socks5' or 'socks4a'")
        }
        if words.contains(.credentials), let said = node.block?.nodes.first(where: { $0.name.isWord("credentials") }) {
            log.report(at: said.name.range, "'credentials' needs 'pac': listed parents can get credentials without it")
        }
    }

    private func hostAndPort(_ value: Value) -> Configuration.HostAndPort? {
        if let scheme = Array(value.text.utf8).firstIndex(ofWord: "://") {
            let rest = String(decoding: Array(value.text.utf8)[(scheme + 3)...].prefix { $0 != .slash }, as: UTF8.self)
            refuse(value, "expected a host and a port, not a URL", suggestion: rest.isEmpty ? nil : rest)
            return nil
        }
        guard let (host, port) = parse.splitPort(value) else { return nil }
        guard let port else {
            refuse(value, "\(value.shown) has no port", suggestion: value.text + ":8080")
            return nil
        }
        guard let name = parse.hostPattern(value, host)?.singleHost else {
            if host.contains("*") || host.contains("/") {
                refuse(value, "\(value.shown) matches many hosts: write one host")
            }
            return nil
        }
        return .init(host: name, port: port)
    }

    private func automaticPlace(_ value: Value) -> String {
        if value.text.contains("://") { refuse(value, "a PAC file is read from a path: fetch it by other means") }
        return parse.path(value)
    }
}
