import Rules

extension TrustFindings {
    /// Findings by the rule file's words.
    init(explained words: [String]) throws(ExplanationError) {
        self = []
        for word in words {
            guard let finding = TrustFinding(rawValue: word) else {
                let nearest = Suggestion.nearest(to: word, among: TrustFinding.allCases.map(\.rawValue))
                let hint = nearest.map { "; did you mean '\($0)'?" } ?? ""
                throw ExplanationError("'\(Console.printable(word))' is no finding about a certificate\(hint)")
            }
            formUnion(TrustFindings(finding))
        }
    }
}
