/// A directive as written: a name, arguments, perhaps a block. The parser interprets them.
struct SyntaxNode: Sendable {
    /// A block, closed or not.
    struct Block: Sendable {
        let brace: SourceRange
        var nodes: [SyntaxNode] = []
        /// Whether the block is closed. False if the file ended first; the directives that follow then probably belong
        /// one level up.
        var isClosed = true
    }

    let name: Token
    var arguments: [Token] = []
    var block: Block?

    /// The range of the directive without its block.
    var range: SourceRange { arguments.last.map { name.range.through($0.range) } ?? name.range }
}

/// A word, a string or a mark of the rule file, with its range of bytes.
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
    /// The text of the token; that of a string is without quotes and with its escapes resolved.
    let text: String
    let range: SourceRange
    /// Whether the mask covers the token: no diagnostic may show its text.
    var isSecret = false

    func isWord(_ word: String) -> Bool { kind == .word && text == word }

    /// The token in the form that a diagnostic may show: quoted, short, without control characters.
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
