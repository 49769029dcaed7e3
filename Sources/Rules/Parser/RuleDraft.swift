import Bytes

/// A rule file as far as it was read: its configuration, and the places that a later check may have to point at.
struct RuleDraft {
    var configuration = Configuration()
    /// One for each listener that is written.
    var listeners: [SourceRange] = []
    var admin: SourceRange?
    var traces: SourceRange?
    /// One for each entry of `egress`.
    var egress: [SourceRange] = []
    /// Whether an `egress` block has `connect-ports`.
    var hasConnectPorts = false
    var credentials: [ExactText: SourceRange] = [:]
    /// The words of `use`.
    var uses: [(name: String, range: SourceRange)] = []
    var parents: [String: SourceRange] = [:]
    /// One for each route.
    var routes: [SourceRange] = []
    /// The words of `via`, with the number of the route.
    var detours: [(route: Int, values: [Value])] = []
    /// One for each challenge.
    var challenges: [RuleDraft.Challenge] = []
    var challengeNames: Set<String> = []

    /// A `challenge` as it was written.
    struct Challenge {
        let node: SyntaxNode
        /// Where its answer stands.
        let answer: SourceRange

        /// The first directive of that name.
        func said(_ name: Predicates.Name) -> SyntaxNode? { said(name.rawValue) }

        func said(_ answer: ChallengeDirective.Answer) -> SyntaxNode? { said(answer.rawValue) }

        func said(_ modifier: ChallengeDirective.Modifier) -> SyntaxNode? { said(modifier.rawValue) }

        private func said(_ word: String) -> SyntaxNode? { node.block?.nodes.first { $0.name.isWord(word) } }
    }
}
