/// A directive as it was written: a name, arguments, perhaps a block. What they mean is the parser's business.
struct SyntaxNode: Sendable {
    /// A block, closed or not.
    struct Block: Sendable {
        let brace: SourceRange
        var nodes: [SyntaxNode] = []
        /// False when the file ended first. The directives that follow then probably belong one level up.
        var isClosed = true
    }

    let name: Token
    var arguments: [Token] = []
    var block: Block?

    /// The directive without its block.
    var range: SourceRange { arguments.last.map { name.range.through($0.range) } ?? name.range }
}

/// A word, a string or a mark of the rule file, with the bytes it stands on.
struct Token: Sendable {
    enum Kind: Sendable {
        case word
        case string
        case open
        case close
        case semicolon
        case newline
    }

    let kind: Kind
    /// The text it means: of a string, without quotes and with its escapes resolved.
    let text: String
    let range: SourceRange
    /// The mask lies over it: no diagnostic may show its text.
    var isSecret = false

    func isWord(_ word: String) -> Bool { kind == .word && text == word }

    /// The token as a diagnostic's sentence may show it: quoted, short, without control characters.
    var shown: String { isSecret ? "this value" : Token.shown(text) }

    static func shown(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(60) {
            scalars.append(scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar)
        }
        if text.unicodeScalars.count > 60 { scalars.append("…") }
        return "'\(String(scalars))'"
    }
}
