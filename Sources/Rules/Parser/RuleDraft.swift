import Bytes

/// The part of a rule file that was read: its configuration, and the positions that a later check may have to report.
struct RuleDraft {
    var configuration = Configuration()
    /// The ranges of the listeners in the file.
    var listeners: [SourceRange] = []
    var admin: SourceRange?
    var traces: SourceRange?
    /// One for each entry of `egress`.
    var egress: [SourceRange] = []
    /// Whether an `egress` block has `connect-ports`.
    var hasConnectPorts = false
    var credentials: [ExactText: SourceRange] = [:]
    /// The placeholders of the credentials.
    var placeholders: [String: SourceRange] = [:]
    /// The names in `use`.
    var uses: [(name: String, range: SourceRange)] = []
    /// The credentials whose tokens other credentials use.
    var tokenUses: [TokenUse] = []
    var parents: [String: SourceRange] = [:]
    /// The ranges of the routes.
    var routes: [SourceRange] = []
    /// The names in `via`, with the number of the route.
    var detours: [(route: Int, values: [Value])] = []
    /// The sources of the challenges.
    var challenges: [RuleDraft.Challenge] = []
    var challengeNames: Set<String> = []

    /// A `credential NAME` in another credential.
    struct TokenUse {
        let user: String
        let name: String
        /// The range of the name.
        let range: SourceRange
    }

    /// A `challenge` as written.
    struct Challenge {
        let node: SyntaxNode
        /// The range of its answer.
        let answer: SourceRange

        /// Returns the first directive of this name.
        func said(_ name: Predicates.Name) -> SyntaxNode? { said(name.rawValue) }

        func said(_ answer: ChallengeDirective.Answer) -> SyntaxNode? { said(answer.rawValue) }

        func said(_ modifier: ChallengeDirective.Modifier) -> SyntaxNode? { said(modifier.rawValue) }

        private func said(_ word: String) -> SyntaxNode? { node.block?.nodes.first { $0.name.isWord(word) } }
    }
}
