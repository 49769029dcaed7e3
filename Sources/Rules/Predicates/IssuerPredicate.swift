import Model

extension Predicates {
    /// The predicate `issuer`: an issuer that the server accepts for client certificates.
    struct Issuer: Predicate {
        static let grammar = DirectiveGrammar.some(
            "distinguished names, where '*' matches any characters", repeats: true)
        static let manual = DirectiveManual(
            "TEXT …", example: "challenge { host api.example.com; issuer \"CN=Lab*,O=Example\"; use device }",
            "An issuer that the server accepts for client certificates. `*` matches any characters.")
        static let topic = "certificates"
        static let methods = MethodSet(.clientCertificate)
        static let needsChallenge = true

        var patterns: [TextPattern] = []

        var isSaid: Bool { !patterns.isEmpty }
        var values: [String] { patterns.map { "\"\($0)\"" } }

        mutating func read(_ values: [Value], _ parse: ValueParser) {
            patterns += values.map { TextPattern($0.text) }
        }

        func holds(for query: borrowing ChallengeQuery) -> Bool {
            for issuer in query.issuers {
                for index in patterns.indices where patterns[index].matches(issuer) { return true }
            }
            return false
        }

        func covers(_ other: Self) -> Bool { patterns.cover(other.patterns) }

        func mismatch(_ query: ChallengeQuery) -> String {
            "the server accepts no issuer like \(values.alternatives)"
        }

        func wish(_ query: ChallengeQuery) -> String {
            "is for issuer \(values.alternatives), which the \(query.server) does not accept"
        }

        var prospect: String? { isSaid ? "the issuer is \(values.alternatives)" : nil }
    }
}
