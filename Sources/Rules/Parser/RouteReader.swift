import Model

/// Reads `route`.
struct RouteReader: BlockReader {
    enum Word: String, DirectiveName {
        case tunnel
        case deny
        case decode
        case upgrade
        case intercept
        case via
        case tls
        case trace
        case http2

        static let block: String? = "route"

        var grammar: DirectiveGrammar {
            switch self {
            case .tunnel, .deny, .intercept, .decode: .none()
            case .upgrade: .optional("a port")
            case .tls: .some("'minimum' or 'maximum' and a version, or 'revocation' and paths", .path, repeats: true)
            case .trace: .one("'continue', 'start' or 'no'")
            case .http2: .one("'yes', 'no', 'clients', 'origins' or 'prior-knowledge'")
            case .via: .some("the names of parents")
            }
        }
    }

    let context: ReadingContext

    func read(_ directive: Directive<FileDirective>, into draft: inout RuleDraft) {
        var action: Configuration.Route.Action?
        let inner = context.directives(RouteReader.Word.self, in: directive.node)
        let said = { (word: RouteReader.Word) in inner.first { $0.name == word } }
        for directive in inner {
            guard let next = Configuration.Route.Action(rawValue: directive.name.rawValue) else { continue }
            if let action { log.report(at: directive.range, "this route already says '\(action.rawValue)'") }
            action = action ?? next
        }
        let tls = terms(inner.filter { $0.name == .tls })
        guard let value = directive.values.first else { return }
        if directive.node.block?.nodes.isEmpty ?? true {
            let words = RouteReader.Word.vocabulary.map { "'\($0)'" }
            log.report(at: value.range, "this route is empty: add one of \(words.joined(separator: ", "))")
        }
        if action == .deny {
            for word in inner where Configuration.Route.Action(rawValue: word.name.rawValue) == nil {
                log.report(at: word.node.name.range, "remove '\(word.name.rawValue)': it has no effect beside 'deny'")
            }
        }
        let http2 = said(.http2)?.values.first.flatMap { parse.keyword($0, Configuration.Route.HTTP2.self) }
        if http2 == .priorKnowledge, let upgrade = said(.upgrade) {
            log.report(
                at: upgrade.range,
                "remove 'upgrade' or 'http2 prior-knowledge': upgraded requests use TLS, where servers choose HTTP/2")
        }
        guard let (host, port) = parse.splitPort(value), let pattern = parse.hostPattern(value, host) else { return }
        if draft.routes.count >= SyntaxLimits.rules {
            log.report(at: value.range, "more than \(SyntaxLimits.rules) routes")
            return
        }
        if let via = said(.via), !via.values.isEmpty {
            draft.detours.append((draft.routes.count, via.values))
        }
        let trace = said(.trace)?.values.first.flatMap { parse.keyword($0, Configuration.Route.Trace.self) }
        draft.configuration.routes.append(
            .init(
                host: pattern, port: port, action: action ?? .tunnel, upgrade: said(.upgrade).flatMap(upgradedPort),
                decodesContent: said(.decode) != nil, tls: tls, trace: trace ?? .no, http2: http2 ?? .yes,
                parentList: nil, rule: context.reference(value.text, directive.node)))
        draft.routes.append(value.range)
    }

    private func upgradedPort(_ directive: Directive<RouteReader.Word>) -> Configuration.Route.Upgrade? {
        guard let value = directive.values.first else { return .standard }
        if let port = ValueParser.port(value.text), port > 0 { return .port(port) }
        refuse(value, "\(value.shown) is not a port from 1 to 65535")
        return nil
    }

    /// Combines the `tls` lines of a route.
    private func terms(_ directives: [Directive<RouteReader.Word>]) -> Configuration.TLSTerms? {
        var versions: [TLSWord: TLSVersion] = [:]
        var seen: Set<TLSWord> = []
        var revocation: [String] = []
        let said = directives.flatMap { directive in
            var isSound = true
            return parse.options(RouteReader.TLSWord.self, in: directive.values[...], isSound: &isSound)
        }
        for option in said {
            switch option.word {
            case .minimum, .maximum:
                let word = option.word.rawValue
                if !seen.insert(option.word).inserted { refuse(option.keyword, "'\(word)' is already set") }
                if option.values.isEmpty {
                    log.report(at: option.keyword.range, "'\(word)' needs a version: 1.0, 1.1, 1.2 or 1.3")
                }
                if option.values.count > 1 { refuse(option.values[1], "'\(word)' takes one version") }
                versions[option.word] = option.values.first.flatMap(version)
            case .revocation:
                if option.values.isEmpty { log.report(at: option.keyword.range, "'revocation' needs paths") }
                revocation += option.values.map(parse.path)
            }
        }
        guard let first = directives.first else { return nil }
        let (least, most) = (
            versions[.minimum] ?? Configuration.TLSTerms.defaultVersions.lowerBound, versions[.maximum]
        )
        if let most, most < least {
            let way = versions[.minimum] == nil ? ": write 'minimum \(most)' too" : ""
            log.report(at: first.node.name.range, "TLS \(most) at most, but \(least) at least\(way)")
        }
        return Configuration.TLSTerms(minimum: versions[.minimum], maximum: most, revocation: revocation)
    }

    private func version(_ value: Value) -> TLSVersion? {
        if let version = TLSVersion(value.text) { return version }
        let digits = String(value.text.drop { !$0.isNumber })
        refuse(
            value, "\(value.shown) is not a TLS version: write 1.0, 1.1, 1.2 or 1.3",
            suggestion: TLSVersion(digits)?.description ?? TLSVersion("1." + digits)?.description)
        return nil
    }

    /// Sets the paths of the routes; the parents of `via` may be defined after the route.
    func resolveDetours(_ draft: inout RuleDraft) {
        let parents = Dictionary(draft.configuration.parents.map { ($0.name, $0) }) { first, _ in first }
        let known = draft.parents.keys.sorted()
        var used: Set<String> = []
        for (index, values) in draft.detours where !log.isFull {
            var hops: [Configuration.ParentList.RouteHop] = []
            var names: Set<String> = []
            for value in values where !log.isFull {
                if names.contains(value.text) {
                    refuse(value, "\(value.shown) is written twice")
                } else if value.text == "direct", !value.isQuoted {
                    names.insert(value.text)
                    hops.append(.direct)
                    if value.range != values.last?.range { refuse(value, "write 'direct' last: it always works") }
                } else if let parent = parents[value.text] {
                    names.insert(value.text)
                    used.insert(parent.name)
                    hops.append(.parent(parent))
                } else if draft.parents[value.text] == nil {
                    refuse(
                        value, "there is no parent \(value.shown)",
                        suggestion: Suggestion.nearest(to: value.text, among: known))
                }
            }
            if !hops.isEmpty { draft.configuration.routes[index].parentList = Configuration.ParentList(hops) }
        }
        guard !log.hasErrors else { return }
        for parent in draft.configuration.parents where !used.contains(parent.name) {
            guard let range = draft.parents[parent.name] else { continue }
            log.report(
                .warning, at: range,
                "no route uses the parent \(Token.shown(parent.name)): add 'via \(parent.name)' to a route")
        }
    }

    fileprivate enum TLSWord: String, CaseIterable {
        case minimum
        case maximum
        case revocation
    }
}
