/// The directives of one kind of block, with the grammar of each.
protocol DirectiveName: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    /// The directive that has the block; nil at the top of the file.
    static var block: String? { get }
    /// Words of the rule language that no version can do yet: a file that says one is told so.
    static var planned: [String] { get }
    var grammar: DirectiveGrammar { get }
}

extension DirectiveName {
    static var planned: [String] { [] }

    /// The words to suggest.
    static var vocabulary: [String] { allCases.map(\.rawValue) }
}
