import Model

/// Reads `store`.
struct StoreReader: BlockReader {
    enum Word: String, DirectiveName {
        case key

        static let block: String? = "store"

        var grammar: DirectiveGrammar { .one("'file' and a path, or 'env' and a name", .atUse) }
    }

    let context: ReadingContext

    func read(_ directive: Directive<FileDirective>) -> Configuration.Store? {
        guard let head = directive.values.first else { return nil }
        let backend = parse.keyword(head, StoreBackend.self)
        let said = context.directives(StoreReader.Word.self, in: directive.node).first?.values.first
        let key = said.flatMap { parse.reference($0, to: "a key") }
        guard let backend else { return nil }
        guard directive.values.count == 2 else {
            let what = backend.isFile ? "one path" : "one connection string in quotes"
            let range = directive.values.count > 2 ? directive.values[2].range : head.range
            log.report(at: range, "'store \(backend.rawValue)' takes \(what)")
            return nil
        }
        let value = directive.values[1]
        if backend.isFile {
            if case .file = value.source {
                refuse(value, "remove 'file' here: write the path alone")
                return nil
            }
            return .init(location: StoreLocation(backend, .file(storePath(value))), key: key)
        }
        if directive.node.block?.nodes.contains(where: { $0.name.text == Word.key.rawValue }) != true {
            log.report(
                at: head.range, "'store \(backend.rawValue)' needs a block with 'key', the same for all proxies")
        }
        guard let connection = parse.secret(value) else { return nil }
        return .init(location: StoreLocation(backend, .server(connection)), key: key)
    }

    private func storePath(_ value: Value) -> String {
        guard case .environment(let name) = value.source else { return parse.path(value) }
        guard let text = context.reader.environment(name) else {
            log.report(at: value.range, "the environment has no variable '\(name)'")
            return ""
        }
        return text
    }
}
