import Model

/// The context in which the blocks of a rule file are read: the outside, the files with their positions, the
/// diagnostics.
final class ReadingContext {
    let reader: any SourceReader
    let sources: SourceMap
    let log: Diagnostic.Log
    /// The directives at the top of a file, and those of every block.
    private let top: any DirectiveName.Type
    private let blocks: [any DirectiveName.Type]
    /// The top-level directives found inside a block whose brace is missing.
    private(set) var strays: [SyntaxNode] = []
    /// The environment variables that are named as the source of a secret.
    private(set) var secretVariables: Set<String> = []
    /// The values that are read only when they are used, with their directives.
    private(set) var valuesForUse: [(word: String, value: Value)] = []
    /// The files with keys and tickets that the rule file names, with their positions in it.
    private(set) var keyFiles: [(path: String, range: SourceRange)] = []

    init(
        reader: any SourceReader, sources: SourceMap, log: Diagnostic.Log, top: any DirectiveName.Type,
        blocks: [any DirectiveName.Type]
    ) {
        self.reader = reader
        self.sources = sources
        self.log = log
        self.top = top
        self.blocks = blocks
    }

    var parse: ValueParser { ValueParser(log: log, sources: sources, reader: reader) }

    /// Returns the path of a file that other users must not be able to read: a private key, a keytab or a ticket cache.
    func keyFile(_ value: Value) -> String {
        let path = parse.path(value)
        note(keyFile: path, at: value.range)
        return path
    }

    /// Returns the path of a keytab or a ticket cache, with or without the prefix `FILE:` of MIT Kerberos.
    func kerberosFile(_ value: Value) -> String {
        let prefix = "FILE:"
        guard value.text.hasPrefix(prefix) else { return keyFile(value) }
        return keyFile(value.without(prefix: prefix))
    }

    func note(keyFile path: String, at range: SourceRange) { keyFiles.append((path, range)) }

    /// Returns the strays found since the last call.
    func takeStrays() -> [SyntaxNode] {
        defer { strays = [] }
        return strays
    }

    func reference(_ name: String?, _ node: SyntaxNode) -> RuleReference {
        let file = sources.file(node.name.range.file)
        let line = file?.line(of: node.name.range.bytes.lowerBound) ?? 0
        return RuleReference(name: name, file: file?.path ?? "", line: line)
    }

    /// Returns the directives of a block, each checked against its block's table.
    func directives<Name: DirectiveName>(_: Name.Type, in node: SyntaxNode) -> [Directive<Name>] {
        var seen: [Name: SourceRange] = [:]
        guard let block = node.block else { return [] }
        return directives(Name.self, in: block.nodes, isClosed: block.isClosed, seen: &seen)
    }

    func directives<Name: DirectiveName>(
        _: Name.Type, in nodes: [SyntaxNode], isClosed: Bool, seen: inout [Name: SourceRange]
    ) -> [Directive<Name>] {
        var directives: [Directive<Name>] = []
        for node in nodes where !log.isFull {
            guard node.name.kind == .word, let name = Name(rawValue: node.name.text) else {
                reportUnknown(node, Name.self, isClosed: isClosed)
                continue
            }
            let grammar = name.grammar
            if !grammar.repeats, let first = seen.updateValue(node.name.range, forKey: name) {
                let line = sources.file(first.file)?.line(of: first.bytes.lowerBound) ?? 0
                let place = first.file == node.name.range.file ? "line \(line)" : sources.place(of: first)
                log.report(at: node.name.range, "'\(name.rawValue)' is already set, on \(place)")
                continue
            }
            guard hasRightBlock(node, grammar), let values = values(of: node, grammar) else { continue }
            directives.append(Directive(name: name, node: node, values: values))
        }
        return directives
    }

    private func hasRightBlock(_ node: SyntaxNode, _ grammar: DirectiveGrammar) -> Bool {
        if let block = node.block, grammar.block == .none {
            log.report(at: block.brace, "'\(node.name.text)' takes no block")
            return false
        }
        if node.block == nil, grammar.block == .needed {
            log.report(at: node.range, "'\(node.name.text)' needs a block in braces on this line")
            return false
        }
        return true
    }

    private func reportUnknown<Name: DirectiveName>(_ node: SyntaxNode, _: Name.Type, isClosed: Bool) {
        let name = node.name
        let isTopLevel = Name.block != nil && name.kind == .word && top.vocabulary.contains(name.text)
        if isTopLevel, !isClosed {
            strays.append(node)
            return
        }
        if name.isWord("include") {
            log.report(at: node.block?.brace ?? name.range, "'include' takes no block")
            return
        }
        let place = Name.block.map { " of '\($0)'" } ?? ""
        if name.kind == .string, Name(rawValue: name.text) != nil {
            log.report(at: name.range, "write the directive without quotes")
            return
        }
        var sentence = "unknown directive \(name.shown)\(place)"
        if isTopLevel { sentence += "; it belongs at the top of the file" }
        let meant = Name.synonyms[name.text.lowercased()]?.rawValue
        let suggestion = isTopLevel ? nil : meant ?? Suggestion.nearest(to: name.text, among: Name.vocabulary)
        let homes = isTopLevel || suggestion != nil || name.isSecret ? [] : homes(of: name.text)
        if let last = homes.last {
            let others = homes.dropLast().map { "'\($0)'" }.joined(separator: ", ")
            sentence += "; it belongs in \(others)\(others.isEmpty ? "" : " and ")'\(last)'"
        }
        log.report(at: name.range, sentence, suggestion: name.isSecret ? nil : suggestion)
    }

    /// The blocks that have a directive of that name.
    private func homes(of name: String) -> [String] {
        blocks.filter { $0.vocabulary.contains(name) }.compactMap { $0.block }
    }

    /// Returns the arguments with `env` and `file` resolved or kept; nil if their number is wrong.
    private func values(of node: SyntaxNode, _ grammar: DirectiveGrammar) -> [Value]? {
        var values: [Value] = []
        var isSound = true
        var index = 0
        while index < node.arguments.count {
            let token = node.arguments[index]
            if grammar.references == .atUseOrRun || grammar.references == .token, token.isWord("run") {
                guard let command = command(token, node.arguments[(index + 1)...]) else { return nil }
                values.append(command)
                break
            }
            let isReference = grammar.references != .never && (token.isWord("env") || token.isWord("file"))
            guard isReference else {
                values.append(
                    Value(
                        text: token.text, isQuoted: token.kind == .string, range: token.range,
                        isSecret: token.isSecret))
                index += 1
                continue
            }
            guard index + 1 < node.arguments.count else {
                let what = token.text == "env" ? "the name of a variable" : "a path"
                log.report(at: token.range, "'\(token.text)' needs \(what); to use the word itself, put it in quotes")
                return nil
            }
            if let value = reference(token, node.arguments[index + 1], grammar.references) {
                values.append(value)
            } else {
                isSound = false
            }
            index += 2
        }
        guard isSound, hasRightCount(node, values, grammar) else { return nil }
        switch grammar.references {
        case .atUse, .atUseOrRun: valuesForUse += values.map { (node.name.text, $0) }
        case .token: if let value = values.first, !value.namesToken { valuesForUse.append((node.name.text, value)) }
        case .never, .atLoad, .path: break
        }
        return values
    }

    private func hasRightCount(_ node: SyntaxNode, _ values: [Value], _ grammar: DirectiveGrammar) -> Bool {
        let name = node.name.text
        let most: Int =
            switch grammar.arguments {
            case .none: 0
            case .optional, .one: 1
            case .some: .max
            }
        if values.isEmpty, most > 0 {
            if case .optional = grammar.arguments { return true }
            log.report(at: node.name.range, "'\(name)' needs \(grammar.expects)")
            return false
        }
        if values.count > most {
            let extra = values[most].range.through(values[values.count - 1].range)
            let sentence = most == 0 ? "'\(name)' takes no value" : "'\(name)' takes one value: \(grammar.expects)"
            log.report(at: extra, sentence)
            return false
        }
        return true
    }

    /// Reads the program and the arguments after `run`.
    private func command(_ run: Token, _ words: ArraySlice<Token>) -> Value? {
        guard let first = words.first, let last = words.last else {
            log.report(at: run.range, "'run' needs a program; to use the word itself, put it in quotes")
            return nil
        }
        let range = run.range.through(last.range)
        guard parse.isProgram(first.text, at: first.range, isSecret: first.isSecret),
            words.allSatisfy({ !$0.text.utf8.contains(0) })
        else {
            return nil
        }
        return Value(text: "", isQuoted: true, range: range, source: .command(words.map(\.text)))
    }

    private func reference(_ kind: Token, _ target: Token, _ when: DirectiveGrammar.References) -> Value? {
        let range = kind.range.through(target.range)
        if when == .path, kind.text == "file" {
            let isShown = target.kind == .word && !target.isSecret
            log.report(
                at: range, "remove 'file' here: write the path alone", suggestion: isShown ? target.text : nil)
            return nil
        }
        if target.text.isEmpty || target.text.utf8.contains(0) {
            let what = kind.text == "env" ? "the name of a variable" : "a path"
            log.report(at: target.range, "'\(kind.text)' needs \(what)")
            return nil
        }
        let path = sources.file(target.range.file)?.resolve(target.text) ?? target.text
        let source = kind.text == "env" ? Value.Source.environment(target.text) : .file(path)
        if when == .atUse || when == .atUseOrRun || when == .token {
            if kind.text == "env" { secretVariables.insert(target.text) }
            return Value(text: "", isQuoted: true, range: range, source: source)
        }
        if kind.text == "env" {
            guard let text = reader.environment(target.text) else {
                log.report(at: target.range, "the environment has no variable \(target.shown)")
                return nil
            }
            return Value(text: text, isQuoted: true, range: range, source: source)
        }
        do throws(SourceError) {
            var bytes = try reader.bytes(at: path, limit: SyntaxLimits.fileSize)
            if bytes.last == 0x0A { bytes.removeLast() }
            if bytes.last == 0x0D { bytes.removeLast() }
            let text = String(decoding: bytes, as: UTF8.self)
            return Value(text: text, isQuoted: true, range: range, source: source)
        } catch {
            log.report(at: target.range, "cannot read \(Token.shown(path)): \(error)")
            return nil
        }
    }
}

/// Reads the directives of one kind of block.
protocol BlockReader {
    var context: ReadingContext { get }
}

extension BlockReader {
    var log: Diagnostic.Log { context.log }
    var parse: ValueParser { context.parse }

    func refuse(_ value: Value, _ sentence: String, suggestion: String? = nil) {
        parse.refuse(value, sentence, suggestion: suggestion)
    }
}
