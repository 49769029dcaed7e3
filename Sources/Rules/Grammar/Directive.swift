/// A directive that its block's table contains, with a valid number of arguments.
struct Directive<Name: DirectiveName> {
    let name: Name
    let node: SyntaxNode
    let values: [Value]

    /// The range of the arguments, or of the name if it has no arguments.
    var range: SourceRange {
        guard let first = values.first, let last = values.last else { return node.name.range }
        return first.range.through(last.range)
    }
}

/// The directives of one kind of block, with the grammar of each.
protocol DirectiveName: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    /// The directive that has the block; nil at the top of the file.
    static var block: String? { get }
    /// The words of other programs for directives of the block.
    static var synonyms: [String: Self] { get }
    /// The manual's text about each directive.
    static var manuals: [Self: DirectiveManual] { get }
    var grammar: DirectiveGrammar { get }
}

extension DirectiveName {
    static var synonyms: [String: Self] { [:] }

    /// The words to suggest.
    static var vocabulary: [String] { allCases.map(\.rawValue) }
}

/// One argument, with its source in the file.
struct Value {
    enum Source: Equatable {
        case written
        /// The value of `env NAME` or `file PATH`. The text came from outside, so no diagnostic may quote it.
        case environment(String)
        case file(String)
        /// The program and arguments of `run`.
        case command([String])
    }

    let text: String
    let isQuoted: Bool
    let range: SourceRange
    var source = Source.written
    var isSecret = false

    /// Whether it is the word `credential` or `key` before a name or a path.
    var namesToken: Bool { !isQuoted && source == .written && (text == "credential" || text == "key") }

    /// The value in the form that a diagnostic may show.
    var shown: String {
        switch source {
        case .written: isSecret ? "this value" : Token.shown(text)
        case .environment(let name): "the value of 'env \(name)'"
        case .file: "the content of this file"
        case .command: "the output of this command"
        }
    }

    /// The value without the first characters of its text.
    func without(prefix: String) -> Value {
        Value(
            text: String(text.dropFirst(prefix.count)), isQuoted: isQuoted, range: range, source: source,
            isSecret: isSecret)
    }
}

/// The grammar of one directive, before its values are checked. The directives of a block are the cases of one enum,
/// beside the block's reader; the parser knows no others.
struct DirectiveGrammar {
    enum Arguments {
        case none
        case optional
        case one
        case some
    }

    /// The use of `env NAME` and `file PATH` for a value.
    enum References {
        /// Never: the words are plain text.
        case never
        /// Read once, when the rules are read.
        case atLoad
        /// Kept as a reference, and read when the value is needed.
        case atUse
        /// Like `atUse`; or `run` with a program and its arguments, to the end of the directive.
        case atUseOrRun
        /// Like `atUseOrRun`; or `credential NAME`, the token of another credential, or `key PATH`. More words may follow.
        case token
        /// The value is a path: `env NAME` may contain it, and is read when the rules are; `file` has no meaning.
        case path
    }

    enum Block {
        case none
        case optional
        case needed
    }

    let arguments: Arguments
    /// An argument in words, to follow "needs": "an address and a port".
    let expects: String
    var references = References.atLoad
    var repeats = false
    var block = Block.none

    static func none(repeats: Bool = false) -> Self { .init(arguments: .none, expects: "nothing", repeats: repeats) }

    static func optional(_ expects: String) -> Self { .init(arguments: .optional, expects: expects) }

    static func one(_ expects: String, _ references: References = .atLoad) -> Self {
        .init(arguments: .one, expects: expects, references: references)
    }

    static func some(
        _ expects: String, _ references: References = .atLoad, repeats: Bool = false, block: Block = .none
    ) -> Self {
        .init(arguments: .some, expects: expects, references: references, repeats: repeats, block: block)
    }

    static func block(_ arguments: Arguments = .none, _ expects: String = "nothing", repeats: Bool = false) -> Self {
        .init(arguments: arguments, expects: expects, references: .never, repeats: repeats, block: .needed)
    }
}
