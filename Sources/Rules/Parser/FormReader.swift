import Bytes
import Model

/// Reads `form` in a `challenge`.
struct FormReader: BlockReader {
    /// The directives in the block of `form`, in a `challenge`.
    enum Word: String, DirectiveName {
        case recognise
        case login
        case fields

        static let block: String? = "form"

        var grammar: DirectiveGrammar {
            switch self {
            case .recognise:
                .some("'status' and a number, 'location' and a pattern, or 'contains' and a text", repeats: true)
            case .login: .one("a path")
            case .fields: .some("fields such as user={user} pass={password}", repeats: true, block: .optional)
            }
        }
    }

    let context: ReadingContext

    func read(_ node: SyntaxNode) -> Configuration.LoginForm? {
        var signs: [Configuration.LoginForm.Sign] = []
        var action: String?
        var fields: [LoginTemplate.Field] = []
        var isJSON = false
        for directive in context.directives(FormReader.Word.self, in: node) {
            switch directive.name {
            case .recognise: sign(directive.values).map { signs.append($0) }
            case .login: action = directive.values.first.flatMap(formAction)
            case .fields:
                guard let block = directive.node.block else {
                    if directive.values.first?.text == "json" {
                        log.report(at: directive.range, "JSON needs braces: write 'fields json { user={user} … }'")
                    } else {
                        fields += directive.values.compactMap(field)
                    }
                    continue
                }
                isJSON = true
                if directive.values.map(\.text) != ["json"] {
                    log.report(at: directive.range, "a block of fields is JSON: write 'fields json { user={user} … }'")
                }
                let tokens = block.nodes.flatMap { [$0.name] + $0.arguments }
                fields += tokens.map { Value(text: $0.text, isQuoted: $0.kind == .string, range: $0.range) }
                    .compactMap(field)
            }
        }
        let words = node.block?.nodes.map(\.name.text) ?? []
        // An unknown word was already reported, and is probably the missing one.
        let isDoubtful = words.contains { FormReader.Word(rawValue: $0) == nil }
        for needed in FormReader.Word.allCases where !isDoubtful && !words.contains(needed.rawValue) {
            log.report(at: node.name.range, "this form has no '\(needed.rawValue)'")
        }
        guard let action, !signs.isEmpty, !fields.isEmpty else { return nil }
        if !fields.contains(where: { $0.value.contains(.password) }), !log.hasErrors {
            log.report(at: node.name.range, "no field of this form has '{password}'")
        }
        return Configuration.LoginForm(
            signs: signs, login: LoginTemplate(action: action, fields: fields, isJSON: isJSON))
    }

    private func sign(_ values: [Value]) -> Configuration.LoginForm.Sign? {
        var isSound = true
        var status: Int?
        var location: TextPattern?
        var text: String?
        let options = parse.options(FormReader.SignWord.self, in: values[...], isSound: &isSound)
        for (index, option) in options.enumerated() {
            if options[..<index].contains(where: { $0.word == option.word }) {
                refuse(
                    option.keyword, "\(option.keyword.shown) is written twice; write another line for an alternative")
            }
            guard let value = option.values.first else {
                log.report(at: option.keyword.range, "\(option.keyword.shown) needs a value")
                continue
            }
            if option.values.count > 1 {
                refuse(option.values[1], "\(option.keyword.shown) takes one value: put text with blanks in quotes")
            }
            switch option.word {
            case .status: status = parse.number(value, 100...599)
            case .location: location = TextPattern(value.text)
            case .contains:
                if value.text.isEmpty { refuse(value, "every page contains this") }
                text = value.text
            }
        }
        return isSound ? .init(status: status, location: location, text: text) : nil
    }

    private func formAction(_ value: Value) -> String? {
        let isWhole = value.text.hasPrefix("/") || value.text.hasPrefix("https://") || value.text.hasPrefix("http://")
        guard isWhole, value.text.utf8.allSatisfy({ $0 > .space && $0 < .delete }) else {
            let isPath = !value.text.isEmpty && value.text.utf8.allSatisfy { $0 > .space && $0 < .delete }
            refuse(value, "\(value.shown) is not a path such as /login", suggestion: isPath ? "/" + value.text : nil)
            return nil
        }
        return value.text
    }

    private func field(_ value: Value) -> LoginTemplate.Field? {
        guard let equals = value.text.firstIndex(of: "="), equals > value.text.startIndex else {
            refuse(value, "\(value.shown) is not a field such as user={user}")
            return nil
        }
        let words: [(String, LoginTemplate.Field.Part)] = [("user", .user), ("password", .password)]
        let text = value.text[value.text.index(after: equals)...]
        let parts = TemplateReader.parts(of: text, words, text: LoginTemplate.Field.Part.text) {
            refuse(value, "unknown word '{\($0)}': a field can have '{user}' and '{password}'")
        }
        guard let parts else { return nil }
        return .init(name: String(value.text[..<equals]), value: parts)
    }

    fileprivate enum SignWord: String, CaseIterable {
        case status
        case location
        case contains
    }
}
