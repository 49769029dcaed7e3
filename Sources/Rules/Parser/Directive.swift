/// A directive that its block's table knows, with as many arguments as it takes.
struct Directive<Name: DirectiveName> {
    let name: Name
    let node: SyntaxNode
    let values: [Value]

    /// The arguments, or the name when there are none.
    var range: SourceRange {
        guard let first = values.first, let last = values.last else { return node.name.range }
        return first.range.through(last.range)
    }
}
