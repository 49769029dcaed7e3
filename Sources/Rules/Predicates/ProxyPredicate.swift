extension Predicates {
    /// The predicate `proxy`: whether a parent proxy or a server challenges.
    struct Proxy: Predicate {
        static let grammar = DirectiveGrammar.one("'yes' or 'no'")
        static let manual = DirectiveManual(
            "yes|no", example: "challenge \"corp proxy\" { proxy yes; host *.corp.example.com; use svc }",
            "`yes`: only for a parent's 407. `no`: only for a server's 401.")

        var wanted: Bool?

        var isSaid: Bool { wanted != nil }
        var values: [String] { wanted.map { [$0 ? "yes" : "no"] } ?? [] }

        mutating func read(_ values: [Value], _ parse: ValueParser) { wanted = values.first.flatMap(parse.yesOrNo) }

        func holds(for query: borrowing ChallengeQuery) -> Bool { wanted == query.isProxy }

        func covers(_ other: Self) -> Bool { self == other }

        func mismatch(_ query: ChallengeQuery) -> String { "it \(wish(query))" }

        func wish(_ query: ChallengeQuery) -> String {
            wanted == true ? "is for parent proxies, not for servers" : "is for servers, not for parent proxies"
        }
    }
}
