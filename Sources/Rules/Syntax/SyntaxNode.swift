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
