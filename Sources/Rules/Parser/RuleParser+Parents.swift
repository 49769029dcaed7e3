import Bytes

/// Parent proxies, and the routes that go through them.
extension RuleParser {
    func parent(_ directive: Directive<FileDirective>) {
        guard let name = directive.values.first else { return }
        var servers: [Configuration.Parent.Server] = []
        var automatic: Value?
        var trusted: [Configuration.HostAndPort] = []
        var exceptions: [HostPattern] = []
        var listed: SourceRange?
        for inner in directives(ParentDirective.self, in: directive.node) {
            switch inner.name {
            case .http, .https, .socks5, .socks4a:
                listed = listed ?? inner.node.name.range
                guard let scheme = Configuration.Parent.Scheme(rawValue: inner.name.rawValue) else { continue }
                servers += inner.values.compactMap(hostAndPort).map { .init(scheme: scheme, address: $0) }
            case .pac: automatic = inner.values.first
            case .credentials: trusted += inner.values.compactMap(hostAndPort)
            case .except: exceptions += inner.values.compactMap { hostPattern($0, $0.text) }
            }
        }
        if automatic != nil, let listed {
            log.report(at: listed, "a parent is listed here or found by 'pac', and not both")
        }
        checkParentParts(name, directive.node)
        if name.text.isEmpty || name.text == "direct" {
            refuse(name, name.text.isEmpty ? "a parent needs a name" : "'direct' in a route means no parent")
        } else if let first = parentRanges[name.text] {
            log.report(at: name.range, "a parent \(name.shown) exists already, at \(sources.place(of: first))")
            return
        }
        parentRanges[name.text] = name.range
        configuration.parents.append(
            .init(
                name: name.text, servers: servers, automatic: automatic.map(automaticPlace), trusted: trusted,
                exceptions: exceptions, rule: reference(name.text, directive.node)))
    }

    private func checkParentParts(_ name: Value, _ node: SyntaxNode) {
        let words = node.block?.nodes.map { ParentDirective(rawValue: $0.name.text) } ?? []
        guard !words.contains(nil), !words.contains(.pac) else { return }
        if !words.contains(where: { $0.flatMap { Configuration.Parent.Scheme(rawValue: $0.rawValue) } != nil }) {
            log.report(
                at: name.range, "the parent \(name.shown) has no address: say 'http', 'https', 'socks5' or 'socks4a'")
        }
        if words.contains(.credentials), let said = node.block?.nodes.first(where: { $0.name.isWord("credentials") }) {
            log.report(at: said.name.range, "'credentials' goes with 'pac'; parents that are listed may have them")
        }
    }

    private func hostAndPort(_ value: Value) -> Configuration.HostAndPort? {
        if let scheme = Array(value.text.utf8).firstIndex(ofWord: "://") {
            let rest = String(decoding: Array(value.text.utf8)[(scheme + 3)...].prefix { $0 != .slash }, as: UTF8.self)
            refuse(value, "a host and a port are wanted, not a URL", suggestion: rest.isEmpty ? nil : rest)
            return nil
        }
        guard let (host, port) = splitPort(value) else { return nil }
        guard let port else {
            refuse(value, "\(value.shown) has no port", suggestion: value.text + ":8080")
            return nil
        }
        guard let name = hostPattern(value, host)?.singleHost else {
            if host.contains("*") || host.contains("/") { refuse(value, "\(value.shown) stands for many hosts") }
            return nil
        }
        return .init(host: name, port: port)
    }

    private func automaticPlace(_ value: Value) -> String {
        if value.text.contains("://") { refuse(value, "a PAC file is read from a path: fetch it by other means") }
        return path(value)
    }

    /// The parents of `via` may stand below the route.
    func checkDetours() {
        var used: Set<String> = []
        for (index, values) in detours {
            var hops: [Detour.Hop] = []
            for value in values {
                if values.filter({ $0.text == value.text }).count > 1, hops.contains(where: { $0.name == value.text }) {
                    refuse(value, "\(value.shown) is said already")
                } else if value.text == "direct", !value.isQuoted {
                    hops.append(.direct)
                    if value.range != values.last?.range { refuse(value, "'direct' always works: it stands last") }
                } else if let parent = configuration.parents.first(where: { $0.name == value.text }) {
                    used.insert(parent.name)
                    hops.append(.parent(parent))
                } else if parentRanges[value.text] == nil {
                    refuse(
                        value, "there is no parent \(value.shown)",
                        suggestion: Suggestion.nearest(to: value.text, among: parentRanges.keys.sorted()))
                }
            }
            if !hops.isEmpty { configuration.routes[index].detour = Detour(hops) }
        }
        guard !log.hasErrors else { return }
        for parent in configuration.parents where !used.contains(parent.name) {
            guard let range = parentRanges[parent.name] else { continue }
            log.report(.warning, at: range, "no route goes through the parent \(Token.shown(parent.name))")
        }
    }
}

extension Detour.Hop {
    fileprivate var name: String {
        switch self {
        case .parent(let parent): parent.name
        case .direct: "direct"
        }
    }
}
