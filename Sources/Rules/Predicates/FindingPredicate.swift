import Model

extension Predicates {
    /// The predicate `finding`: a problem of the server's certificate.
    struct Finding: Predicate {
        static let grammar = DirectiveGrammar.some("problems of a certificate, such as expired")
        static let manual = DirectiveManual(
            "FINDING …", example: "challenge { host old.example.com; finding expired; allow expired; trust }",
            "A problem of the server's certificate, such as expired ('attache help trust').")
        static let topic = "trust"
        static let methods = MethodSet(.serverTrust)
        static let needsChallenge = true

        var words: [FindingWord] = []
        private var findings: TrustFindings = []

        var isSaid: Bool { !words.isEmpty }
        var values: [String] { words.map(\.rawValue) }

        mutating func read(_ values: [Value], _ parse: ValueParser) {
            words = values.compactMap { parse.keyword($0, FindingWord.self) }
            findings = words.reduce(into: []) { $0.formUnion($1.findings) }
        }

        func holds(for query: borrowing ChallengeQuery) -> Bool { !query.findings.isDisjoint(with: findings) }

        func covers(_ other: Self) -> Bool { other.words.allSatisfy(words.contains) }

        func mismatch(_ query: ChallengeQuery) -> String { "the certificate has no problem \(values.alternatives)" }

        func wish(_ query: ChallengeQuery) -> String { "is for finding \(values.alternatives)" }

        var prospect: String? { isSaid ? "the problem is \(values.alternatives)" : nil }
    }
}
