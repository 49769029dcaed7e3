extension Predicates {
    /// The predicate `secure`: whether the credential would be sent encrypted.
    struct Secure: Predicate {
        static let grammar = DirectiveGrammar.one("'yes' or 'no'")
        static let manual = DirectiveManual(
            "yes|no", example: "challenge { host ci.example.com; secure yes; use ci }",
            "`yes`: the rule applies only over TLS. `no`: only without TLS.")

        var wanted: Bool?

        var isSaid: Bool { wanted != nil }
        var values: [String] { wanted.map { [$0 ? "yes" : "no"] } ?? [] }

        mutating func read(_ values: [Value], _ parse: ValueParser) { wanted = values.first.flatMap(parse.yesOrNo) }

        func holds(for query: borrowing ChallengeQuery) -> Bool { wanted == query.isSecure }

        func covers(_ other: Self) -> Bool { self == other }

        func mismatch(_ query: ChallengeQuery) -> String {
            wanted == true ? "the credential would be sent unencrypted" : "the credential would not be sent unencrypted"
        }

        func wish(_ query: ChallengeQuery) -> String {
            wanted == true
                ? "says 'secure yes'; \(query.method) over \(query.protocol) would send the credential unencrypted"
                : "says 'secure no'; the credential would be sent encrypted"
        }
    }
}
