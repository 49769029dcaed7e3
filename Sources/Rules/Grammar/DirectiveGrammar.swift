/// What may be said about one directive before its values are looked at. All directives stand in one table for each
/// block, the enums of this folder; the parser knows no directive that is not there.
struct DirectiveGrammar {
    enum Arguments {
        case none
        case optional
        case one
        case some
    }

    /// Where `env NAME` and `file PATH` may stand in a value's place.
    enum References {
        /// Nowhere: the words are words.
        case never
        /// Read once, when the rules are.
        case atLoad
        /// Kept as a reference and read when the value is needed.
        case atUse
        /// A path is wanted: `env NAME` may name it, and is read when the rules are; `file` has no meaning.
        case path
    }

    enum Block {
        case none
        case optional
        case needed
    }

    let arguments: Arguments
    /// What an argument is, after "needs": "an address and a port".
    let expects: String
    var references = References.atLoad
    var repeats = false
    var block = Block.none

    static func none(repeats: Bool = false) -> Self { .init(arguments: .none, expects: "nothing", repeats: repeats) }

    static func optional(_ expects: String) -> Self { .init(arguments: .optional, expects: expects) }

    static func one(_ expects: String, _ references: References = .atLoad, repeats: Bool = false) -> Self {
        .init(arguments: .one, expects: expects, references: references, repeats: repeats)
    }

    static func some(_ expects: String, _ references: References = .atLoad, repeats: Bool = false) -> Self {
        .init(arguments: .some, expects: expects, references: references, repeats: repeats)
    }

    static func block(_ arguments: Arguments = .none, _ expects: String = "nothing", repeats: Bool = false) -> Self {
        .init(arguments: arguments, expects: expects, references: .never, repeats: repeats, block: .needed)
    }

    func withOptionalBlock() -> Self {
        var grammar = self
        grammar.block = .optional
        return grammar
    }
}
