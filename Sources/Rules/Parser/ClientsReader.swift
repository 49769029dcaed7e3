import Model

/// Reads `clients`.
struct ClientsReader: BlockReader {
    enum Word: String, DirectiveName {
        case allow
        case authenticate
        case realm
        case users
        case nonceKey = "nonce-key"
        case keytab
        case allowPrincipals = "allow-principals"
        case tokens

        static let block: String? = "clients"

        var grammar: DirectiveGrammar {
            switch self {
            case .allow: .some("addresses or blocks such as 10.0.0.0/8", repeats: true)
            case .authenticate: .some("'none', 'basic', 'digest', 'negotiate' or 'bearer'", .never)
            case .realm: .one("a text")
            case .users: .one("'file' and a path", .atUse)
            case .nonceKey: .one("'file' and a path, or 'env' and a name", .atUse)
            case .keytab: .one("a path", .path)
            case .allowPrincipals:
                .some("principals such as alice@EXAMPLE.COM or *@EXAMPLE.COM", .never, repeats: true)
            case .tokens: .one("'file' and a path", .atUse)
            }
        }

        /// The methods that use it; empty if it does not concern methods.
        fileprivate var methods: [Configuration.Clients.Method] {
            switch self {
            case .users: [.basic, .digest]
            case .nonceKey: [.digest]
            case .keytab, .allowPrincipals: [.negotiate]
            case .tokens: [.bearer]
            case .allow, .authenticate, .realm: []
            }
        }
    }

    private typealias Method = Configuration.Clients.Method

    let context: ReadingContext

    func read(_ node: SyntaxNode, into clients: inout Configuration.Clients) {
        var allow: [AddressPrefix] = []
        var principals: [PrincipalPattern] = []
        var methods: [(method: Method, range: SourceRange)] = []
        var ranges: [ClientsReader.Word: SourceRange] = [:]
        for directive in context.directives(ClientsReader.Word.self, in: node) {
            guard let value = directive.values.first else { continue }
            ranges[directive.name] = value.range
            switch directive.name {
            case .allow: allow += directive.values.compactMap(parse.prefix)
            case .authenticate: methods = clientMethods(directive.values)
            case .realm: realm(value).map { clients.realm = $0 }
            case .users: clients.users = listFile(value, "users")
            case .nonceKey: clients.nonceKey = parse.reference(value, to: "a key")
            case .keytab: clients.keytab = context.kerberosFile(value)
            case .allowPrincipals: principals += directive.values.compactMap(principal)
            case .tokens: clients.tokens = listFile(value, "tokens")
            }
        }
        if !allow.isEmpty { clients.allow = allow }
        if !principals.isEmpty { clients.principals = principals }
        clients.methods = methods.map(\.method)
        let words = node.block?.nodes.map(\.name.text) ?? []
        for (method, range) in methods {
            let list = ClientsReader.Word.allCases.first { $0.methods.contains(method) && $0 != .nonceKey }
            guard let needed = list, !words.contains(needed.rawValue) else { continue }
            let what = needed == .keytab ? "'keytab'" : "'\(needed.rawValue) file'"
            log.report(at: range, "'authenticate \(method.rawValue)' needs \(what) and a path")
        }
        if let digest = methods.first(where: { $0.method == .digest }), !clients.realm.utf8.allSatisfy({ $0 < 0x80 }) {
            log.report(
                .warning, at: ranges[.realm] ?? digest.range,
                "some clients fail with a Digest realm that is not ASCII, such as \"\(clients.realm)\"")
        }
        for (name, range) in ranges.sorted(by: { $0.value.bytes.lowerBound < $1.value.bytes.lowerBound })
        where !name.methods.isEmpty && !name.methods.contains(where: clients.methods.contains) {
            let sentence =
                name == .users
                ? "clients do not log in: add 'authenticate basic'"
                : "this has no effect without 'authenticate \(name.methods[0].rawValue)'"
            // A method that was refused there was already reported.
            if !words.contains("authenticate") || !log.hasErrors { log.report(.warning, at: range, sentence) }
        }
    }

    private func clientMethods(_ values: [Value]) -> [(method: Method, range: SourceRange)] {
        var methods: [(method: Method, range: SourceRange)] = []
        for value in values {
            if value.text == "none" {
                if values.count > 1 { refuse(value, "'none' stands alone") }
                continue
            }
            guard let method = clientMethod(value) else { continue }
            if methods.contains(where: { $0.method == method }) {
                refuse(value, "\(value.shown) is written twice")
            } else {
                methods.append((method, value.range))
            }
        }
        return methods
    }

    private func clientMethod(_ value: Value) -> Method? {
        if let method = Method(rawValue: value.text) { return method }
        let words = ["none"] + Method.allCases.map(\.rawValue)
        refuse(
            value, "\(value.shown) is none of \(words.joined(separator: ", "))",
            suggestion: Suggestion.nearest(to: value.text, among: words))
        return nil
    }

    private func realm(_ value: Value) -> String? {
        if value.text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            refuse(value, "a realm cannot have control characters")
            return nil
        }
        return value.text
    }

    private func principal(_ value: Value) -> PrincipalPattern? {
        if let pattern = PrincipalPattern(value.text) { return pattern }
        refuse(
            value, "\(value.shown) is not a principal such as alice@EXAMPLE.COM, *@EXAMPLE.COM or HTTP/*@EXAMPLE.COM")
        return nil
    }

    private func listFile(_ value: Value, _ word: String) -> ValueSource? {
        if case .file(let path) = value.source { return .file(path) }
        refuse(value, "write '\(word) file' and the path of the file")
        return nil
    }
}
