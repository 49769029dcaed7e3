import Bytes

extension RuleParser {
    func egress(_ node: SyntaxNode) {
        for directive in directives(EgressDirective.self, in: node) {
            switch directive.name {
            case .allow, .deny:
                let verdict: Configuration.Egress.Verdict = directive.name == .allow ? .allow : .deny
                let rule = reference(nil, directive.node)
                for value in directive.values {
                    guard let entry = entry(value, verdict, rule) else { continue }
                    configuration.egress.entries.append(entry)
                }
            case .connectPorts:
                if let ports = ports(directive.values, mayBeAny: true) { configuration.egress.connectPorts = ports }
            }
        }
    }

    private func entry(
        _ value: Value, _ verdict: Configuration.Egress.Verdict, _ rule: RuleReference
    ) -> Configuration.Egress.Entry? {
        guard let (host, port) = splitPort(value) else { return nil }
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
                refuse(value, error, of: text)
                return nil
            }
            let classes = AddressClass.allCases.map(\.rawValue)
            let suggestion = Suggestion.nearest(to: text, among: classes)
            let isName = !(text.utf8.last?.isDigit ?? true) && text.contains(".")
            let isHost = suggestion == nil && isName && (try? HostPattern(text)) != nil
            let hint = isHost ? "; a name is refused by 'route NAME { deny }'" : ""
            refuse(
                value, "\(value.shown) is not an address, a block or one of \(classes.joined(separator: ", "))\(hint)",
                suggestion: suggestion)
            return nil
        }
    }

    func route(_ directive: Directive<FileDirective>) {
        var action: Configuration.Route.Action?
        let inner = directives(RouteDirective.self, in: directive.node)
        for directive in inner {
            guard let next = Configuration.Route.Action(rawValue: directive.name.rawValue) else { continue }
            if let action { log.report(at: directive.range, "this route says '\(action.rawValue)' already") }
            action = action ?? next
        }
        let upgrade = inner.first { $0.name == .upgrade }
        let tls = routeTLS(inner.filter { $0.name == .tls })
        guard let value = directive.values.first else { return }
        if directive.node.block?.nodes.isEmpty ?? true {
            let words = RouteDirective.vocabulary.map { "'\($0)'" }
            log.report(at: value.range, "this route says nothing; it may say \(words.joined(separator: ", "))")
        }
        if action == .deny {
            for word in inner where Configuration.Route.Action(rawValue: word.name.rawValue) == nil {
                log.report(at: word.node.name.range, "a denied route has no use for '\(word.name.rawValue)'")
            }
        }
        guard let (host, port) = splitPort(value), let pattern = hostPattern(value, host) else { return }
        if configuration.routes.count >= SyntaxLimits.routes {
            log.report(at: value.range, "more than \(SyntaxLimits.routes) routes")
            return
        }
        if let via = inner.first(where: { $0.name == .via }), !via.values.isEmpty {
            detours.append((configuration.routes.count, via.values))
        }
        configuration.routes.append(
            .init(
                host: pattern, port: port, action: action ?? .tunnel, upgrade: upgrade.flatMap(upgradedPort),
                decodesContent: inner.contains { $0.name == .decode }, tls: tls, detour: nil,
                rule: reference(value.text, directive.node)))
        routeRanges.append(value.range)
    }

    private func upgradedPort(_ directive: Directive<RouteDirective>) -> Configuration.Route.Upgrade? {
        guard let value = directive.values.first else { return .standard }
        if let port = Self.port(value.text), port > 0 { return .port(port) }
        refuse(value, "\(value.shown) is not a port from 1 to 65535")
        return nil
    }
}
