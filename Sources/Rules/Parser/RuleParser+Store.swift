/// `store`.
extension RuleParser {
    func store(_ directive: Directive<FileDirective>) {
        guard let head = directive.values.first else { return }
        let kind = keyword(head, StoreKind.self)
        var key: ValueSource?
        for inner in directives(StoreDirective.self, in: directive.node) {
            key = inner.values.first.flatMap { sealingKey($0) }
        }
        guard let kind else { return }
        guard directive.values.count == 2 else {
            let what = kind == .sqlite ? "one path" : "one connection string in quotes"
            let range = directive.values.count > 2 ? directive.values[2].range : head.range
            log.report(at: range, "'store \(kind.rawValue)' takes \(what)")
            return
        }
        let value = directive.values[1]
        switch kind {
        case .sqlite:
            if case .file = value.origin {
                refuse(value, "'file' has no meaning here: a path stands alone")
                return
            }
            configuration.store = .init(place: .sqlite(storePath(value)), key: key)
        case .postgresql:
            let words = directive.node.block?.nodes.map(\.name.text) ?? []
            if !words.contains(StoreDirective.key.rawValue) {
                log.report(at: head.range, "'store postgresql' needs a block with 'key', which all of its users share")
            }
            guard let connection = secret(value) else { return }
            configuration.store = .init(place: .postgresql(connection), key: key)
        }
    }

    private func storePath(_ value: Value) -> String {
        guard case .environment(let name) = value.origin else { return path(value) }
        guard let text = reader.environment(name) else {
            log.report(at: value.range, "the environment has no variable '\(name)'")
            return ""
        }
        return text
    }

    /// A key that stands in the rule file would be no secret to who may read the rules.
    func sealingKey(_ value: Value) -> ValueSource? {
        switch value.origin {
        case .environment(let name): return .environment(name)
        case .file(let path): return .file(path)
        case .written:
            refuse(value, "a key does not stand in the rule file: say 'file' and a path, or 'env' and a name")
            return nil
        }
    }
}

private enum StoreKind: String, CaseIterable {
    case sqlite
    case postgresql
}
