import Bytes

extension RuleParser {
    func limits(_ node: SyntaxNode) {
        for directive in directives(LimitsDirective.self, in: node) {
            guard let value = directive.values.first else { continue }
            let path: WritableKeyPath<Configuration.Limits, Int>
            let number: Int?
            switch directive.name {
            case .replayMemory: (path, number) = (\.replayMemory, size(value, 0...1 << 30))
            case .replayDisk: (path, number) = (\.replayDisk, size(value, 0...1 << 40))
            case .startLine: (path, number) = (\.startLine, size(value, 256...1 << 20))
            case .head: (path, number) = (\.head, size(value, 1 << 10...1 << 20))
            case .upstreamHead: (path, number) = (\.upstreamHead, size(value, 1 << 10...1 << 24))
            case .fields: (path, number) = (\.fields, self.number(value, 8...1024))
            case .clients: (path, number) = (\.clients, self.number(value, 1...1_000_000))
            case .decodeRatio: (path, number) = (\.decodeRatio, self.number(value, 1...1_000_000))
            }
            if let number { configuration.limits[keyPath: path] = number }
        }
    }

    func timeouts(_ node: SyntaxNode) {
        for directive in directives(TimeoutsDirective.self, in: node) {
            guard let value = directive.values.first, let duration = duration(value) else { continue }
            switch directive.name {
            case .head: configuration.timeouts.head = duration
            case .idle: configuration.timeouts.idle = duration
            case .connect: configuration.timeouts.connect = duration
            case .response: configuration.timeouts.response = duration
            case .drain: configuration.timeouts.drain = duration
            }
        }
    }

    func clients(_ node: SyntaxNode) {
        var allow: [AddressPrefix] = []
        var users: (source: ValueSource, range: SourceRange)?
        var basic: SourceRange?
        for directive in directives(ClientsDirective.self, in: node) {
            switch directive.name {
            case .allow: allow += directive.values.compactMap(prefix)
            case .authenticate: basic = authenticatesBasic(directive.values)
            case .realm: directive.values.first.flatMap(realm).map { configuration.clients.realm = $0 }
            case .users: users = directive.values.first.flatMap { value in usersFile(value).map { ($0, value.range) } }
            }
        }
        if !allow.isEmpty { configuration.clients.allow = allow }
        switch (basic, users) {
        case (nil, nil): break
        case (_?, let users?): configuration.clients.authentication = .basic(users: users.source)
        case (let basic?, nil):
            // A `users` line that was refused has been reported.
            let isSaid = node.block?.nodes.contains { $0.name.text == ClientsDirective.users.rawValue } ?? false
            if !isSaid { log.report(at: basic, "'authenticate basic' needs 'users file' and a path beside it") }
        case (nil, let users?):
            log.report(.warning, at: users.range, "no one is asked for a password: 'authenticate basic' is not said")
        }
    }

    private func authenticatesBasic(_ values: [Value]) -> SourceRange? {
        var methods: [ClientMethod] = []
        for value in values {
            guard let method = keyword(value, ClientMethod.self, later: ["digest", "negotiate", "bearer"]) else {
                continue
            }
            if methods.contains(method) {
                refuse(value, "\(value.shown) is said already")
            } else if !methods.isEmpty {
                refuse(value, "'none' stands alone")
            }
            methods.append(method)
        }
        return methods.contains(.basic) ? values.first?.range : nil
    }

    private func realm(_ value: Value) -> String? {
        if value.text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            refuse(value, "a realm has no control characters")
            return nil
        }
        return value.text
    }

    private func usersFile(_ value: Value) -> ValueSource? {
        switch value.origin {
        case .written, .environment:
            refuse(value, "users are read from a file: 'users file' and its path")
            return nil
        case .file(let path): return .file(path)
        }
    }

    func reference(_ name: String?, _ node: SyntaxNode) -> RuleReference {
        let file = sources.file(node.name.range.file)
        let line = file?.line(of: node.name.range.bytes.lowerBound) ?? 0
        return RuleReference(name: name, file: file?.path ?? "", line: line)
    }
}

private enum ClientMethod: String, CaseIterable {
    case none
    case basic
}
