/// The directives of one kind of block, with the grammar of each.
protocol DirectiveName: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    /// The directive that has the block; nil at the top of the file.
    static var block: String? { get }
    var grammar: DirectiveGrammar { get }
}

extension DirectiveName {
    /// The words to suggest: those that would be accepted.
    static func vocabulary(of features: Set<Feature>) -> [String] {
        allCases.filter { $0.grammar.isSupported(by: features) }.map(\.rawValue)
    }
}
