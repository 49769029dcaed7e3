/// The directives of one `credential`, by name.
struct CredentialBlock {
    private let directives: [Directive<CredentialDirective>]

    init(_ directives: [Directive<CredentialDirective>]) {
        self.directives = directives
    }

    func directive(_ word: CredentialDirective) -> Directive<CredentialDirective>? {
        directives.first { $0.name == word }
    }

    func value(_ word: CredentialDirective) -> Value? { directive(word)?.values.first }

    func values(_ word: CredentialDirective) -> [Value] { directive(word)?.values ?? [] }

    /// Those of some words that are said, in the order of the file.
    func said(_ words: [CredentialDirective]) -> [Directive<CredentialDirective>] {
        directives.filter { words.contains($0.name) }
    }
}
