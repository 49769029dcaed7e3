/// A `challenge` as it was written, for checks that know all of the file.
struct ChallengeSource {
    let node: SyntaxNode
    /// Where its answer stands.
    let answer: SourceRange

    /// The first directive of that name.
    func said(_ name: ChallengeDirective) -> SyntaxNode? {
        node.block?.nodes.first { $0.name.kind == .word && $0.name.text == name.rawValue }
    }
}
